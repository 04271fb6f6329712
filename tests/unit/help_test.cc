#include <catch2/catch.hpp>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/text.h"
#include "launcher/options/command_line.h"
#include "launcher/options/option_table.h"
#include "launcher/options/text/guesses.h"
#include "launcher/options/text/help.h"
#include "launcher/options/values/host_source_names.h"
#include "launcher/starters/starters.h"

using namespace sml;
using dialects::Dialect;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

std::string help(std::string_view topic, Dialect dialect = Dialect::Own) {
  const Result<std::string> text = help_text(dialect, topic);
  return text ? *text : "error: " + text.error().message();
}

std::string error_of(const std::vector<std::string>& words) {
  const auto parsed = parse_command_line(words);
  return parsed ? "no error" : parsed.error().message();
}

}  // namespace

TEST_CASE("help without a topic is one screen with fourteen options that are there") {
  const std::vector<std::string> lines = lines_of(help(""));
  CHECK(lines.size() <= 23);  // the prompt of the shell has the last line
  std::size_t options = 0;
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
    if (!line.starts_with("  -")) continue;
    ++options;
    CHECK(find_row(line.substr(2, line.find(' ', 2) - 2)) != nullptr);
  }
  CHECK(options == 14);
}

TEST_CASE("the screen names every topic, and each topic shows its options") {
  const std::string screen = help("");
  std::size_t rows = 0;
  for (const std::string_view topic : help_topics()) {
    CAPTURE(topic);
    CHECK(screen.find(std::string(topic)) != std::string::npos);
    if (topic != "rare") CHECK(help("all").find(help(topic)) != std::string::npos);
  }
  for (const OptionGroup& group : option_groups()) {
    for (const OptionRow& row : group.rows) {
      CAPTURE(group.topic, row.spellings);
      const bool rare = row.listed != Listed::InItsTopic;
      const std::string text = help(rare ? "rare" : group.topic);
      CHECK(text.find(" " + std::string(main_spelling(row))) != std::string::npos);
      ++rows;
    }
  }
  CHECK(rows > 100);
}

TEST_CASE("help shows at most 140 options, and the rare ones apart") {
  std::size_t rare = 0;
  std::size_t listed = 0;
  for_each_row([&](const OptionRow& row) { ++(row.listed == Listed::InItsTopic ? listed : rare); });
  CHECK(listed <= 140);
  CHECK(rare > 10);
  CHECK(help("all").find("--rank-monitor") == std::string::npos);
  CHECK(help("--rank-monitor").find("NVRx") != std::string::npos);
  CHECK(help("qqqqq").starts_with("error: there is no help on qqqqq"));
}

TEST_CASE("the screen leads to restarts, running jobs and the manuals") {
  const std::string screen = help("");
  for (const std::string_view wanted : {"--max-restarts", "sml-run ps, status", "logs", "man sml-run-guide"}) {
    CAPTURE(wanted);
    CHECK(screen.find(wanted) != std::string::npos);
  }
}

TEST_CASE("who calls without a word gets lines to try, in 80 columns") {
  CHECK(newcomer_text("mpirun").empty());
  CHECK(newcomer_text("/usr/bin/sml-run").find("sml-run -np 4 ") != std::string::npos);
  for (const std::string& line : lines_of(newcomer_text("sml-run"))) CHECK(line.size() <= 80);
}

TEST_CASE("help tells one option, by any of its spellings") {
  CHECK(help("--grace").find("--grace D") != std::string::npos);
  CHECK(help("grace") == help("--grace"));
  CHECK(help("-H") == help("--hosts"));
  CHECK(help("hostz") == "error: there is no help on hostz; did you mean --help hosts?");
  CHECK(help("kubernets") == "error: there is no help on kubernets; did you mean --help kubernetes?");
  CHECK(help("zzzzzzzz") == "error: there is no help on zzzzzzzz; sml-run --help lists the topics");
}

TEST_CASE("help knows topics by the names that other programs give them") {
  CHECK(help("no-ssh").find("--nnodes 2 --head HOST") != std::string::npos);
  CHECK(help("no-ssh").find(help("every-host")) != std::string::npos);
  CHECK(help("Kubernetes") == help("no-ssh"));
  CHECK(help("pdb").find("--show-ranks 0 -np 1 python3 -m pdb train.py : -np 3") != std::string::npos);
  CHECK(help("hang").find("sml-run stacks") != std::string::npos);
  CHECK(help("hang").find("--on-silent stop") != std::string::npos);
  CHECK(help("list") == help("running"));
  CHECK(help("env") == help("environment"));
  for (const OtherTopic& topic : other_topics()) {
    CAPTURE(topic.words);
    std::istringstream words{std::string(topic.words)};
    for (std::string word; words >> word;) {
      CAPTURE(word);
      CHECK(other_topic(word) == &topic);  // no word twice
      CHECK_FALSE(help(word).starts_with("error"));
    }
    std::istringstream leads{std::string(topic.topics)};
    for (std::string lead; leads >> lead;) {
      CAPTURE(lead);
      CHECK_FALSE(help(lead).starts_with("error"));
      CHECK(help(lead).find("No topic") == std::string::npos);
    }
    for (const std::string& line : lines_of(std::string(topic.text))) {
      CAPTURE(line);
      CHECK(line.size() <= 100);
      const std::size_t call = line.find("sml-run -");
      if (!line.starts_with("  ") || call == std::string::npos) continue;
      const auto given = shell_words(line.substr(call, line.find_first_of(">#", call) - call));
      REQUIRE(given.has_value());
      CHECK(parse_command_line(std::span(*given).subspan(1)).has_value());
    }
  }
}

TEST_CASE("help tells what options of other launchers become") {
  CHECK(help("--env") == "--env is an option of another launcher, and means here:\n" + help("-x"));
  CHECK(help("nodelist").starts_with("--nodelist is an option of another launcher, and means here:\n"));
  CHECK(help("--bcast") ==
        "--bcast is an option of another launcher: sml-run copies no files to other hosts; put them "
        "where every host finds them\n");
  CHECK(help("--monitor-interval") ==
        "--monitor-interval is an option of another launcher, and without effect here.\n");
}

TEST_CASE("help finds options by a word of their help") {
  CHECK(help("perfetto").starts_with("No topic has this name; options whose help has perfetto:\n"));
  CHECK(help("perfetto").find("--trace FILE") != std::string::npos);
}

TEST_CASE("by another launcher's name its own options come first") {
  for (const Dialect dialect : {Dialect::Mpirun, Dialect::Hydra, Dialect::Horovodrun, Dialect::Torchrun, Dialect::Srun,
                                Dialect::Deepspeed, Dialect::Accelerate}) {
    const std::string text = help("", dialect);
    CAPTURE(text);
    CHECK(text.starts_with("Usage: " + std::string(dialects::name_of(dialect)) + " "));
    CHECK(text.find("--help TOPIC") != std::string::npos);
    for (const std::string& line : lines_of(text)) CHECK(line.size() <= 80);
  }
  const std::string torchrun = help("", Dialect::Torchrun);
  CHECK(torchrun.find("--rdzv-endpoint V") < torchrun.find("  -np N"));
  CHECK(help("train.py", Dialect::Torchrun) == torchrun);
}

TEST_CASE("a value that is nearly one of the option's is named") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--export", "al", "p"}, "did you mean all?"},
      {{"--bind-to", "cor", "p"}, "did you mean core?"},
      {{"--bind-to", "core:overload-allowed", "p"},
       "no two workers are bound to the same core; write core with at most one worker for each, or leave it out"},
      {{"--completion", "fihs"}, "did you mean fish?"},
      {{"--host-source", "slrum", "p"}, "did you mean slurm?"},
      {{"--preset", "jax,deepsped", "p"}, "did you mean deepspeed?"},
  };
  for (const auto& [words, wanted] : wrong) {
    CAPTURE(words);
    CHECK(error_of(words).ends_with("; " + wanted));
  }
  CHECK(error_of({"--rank-by", "xyzzy", "p"}) == "--rank-by: \"xyzzy\" is not slot or host");
}

TEST_CASE("the help of --start-by names every way") {
  const std::string text = help("--start-by");
  for (const std::string_view name : starters::way_names()) {
    CAPTURE(name);
    CHECK(text.find(name) != std::string::npos);
  }
}

TEST_CASE("every fixed value is one that its option takes") {
  std::size_t values = 0;
  for_each_row([&](const OptionRow& row) {
    for (const std::string_view value : fixed_values_of(row)) {
      CAPTURE(row.spellings, value);
      Options options;
      CHECK(row.set(options, value).has_value());
      ++values;
    }
  });
  CHECK(values > 50);
  CHECK(fixed_values_of(*find_row("--host-source")) == host_source_names());
}
