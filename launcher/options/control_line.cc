#include "launcher/options/control_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "common/core/exit_status.h"
#include "common/core/letters.h"
#include "common/core/rank_set.h"
#include "common/core/text.h"
#include "launcher/dialects/dialect.h"

namespace sml {

namespace {

using std::string_view;

enum class JobIs : std::uint8_t { NotNamed, Optional, Required };  // on the line

struct WordRow {
  string_view name;
  ControlWord word;
  JobIs job;
  string_view options;  // with blanks around each
  string_view synopsis;
  string_view text;
};
constexpr std::array kWords{
    WordRow{"ps", ControlWord::Ps, JobIs::NotNamed, " --format ", "ps [--format json]",
            "Lists your jobs that run on this machine, also in containers that can be looked into."},
    WordRow{"status", ControlWord::Status, JobIs::Optional, " --format --watch ",
            "status [JOB] [--watch] [--format json]",
            "Prints its hosts and ranks now; again each second with --watch."},
    WordRow{"stop", ControlWord::Stop, JobIs::Optional, " --format ", "stop JOB [--format json]",
            "Ends it as SIGTERM to its sml-run does, and waits for the end. Without JOB: lists all."},
    WordRow{"signal", ControlWord::Signal, JobIs::Required, " --format --ranks --rank ",
            "signal JOB SIG [--ranks LIST] [--format json]", "Sends SIG, such as USR1, to all workers or to some."},
    WordRow{"logs", ControlWord::Logs, JobIs::Optional, " --format --ranks --rank --follow -f -n --tail --lines ",
            "logs [JOB] [--ranks LIST] [-n N] [--follow] [--format json]",
            "Prints the last lines of its ranks, N or up to 4 KiB a stream; with --follow what comes, too."},
    WordRow{"stacks", ControlWord::Stacks, JobIs::Optional, " --format ", "stacks [JOB] [--format json]",
            "Prints where its workers are, who waits and who holds them up."},
    WordRow{"top", ControlWord::Top, JobIs::Optional, " ", "top [JOB]",
            "Shows its hosts and ranks on the terminal, the odd ones first; ? lists the keys."},
};

const WordRow* find_word(string_view word) {
  const auto found = std::find_if(kWords.begin(), kWords.end(), [&](const WordRow& row) { return row.name == word; });
  return found == kWords.end() ? nullptr : &*found;
}

Error wrong(const WordRow& row, const std::string& what) {
  return Error(ErrorKind::Usage, fmt::format("{}: {}; write sml-run {}", row.name, what, row.synopsis));
}

Result<void> set_value(const WordRow& row, string_view option, const std::string& value, ControlLine& out) {
  if (option == "--format") {
    if (value != "json" && value != "text") return wrong(row, "--format takes text or json");
    out.format = value == "json" ? PlanFormat::Json : PlanFormat::Text;
    return {};
  }
  if (option == "-n" || option == "--tail" || option == "--lines") {
    constexpr std::uint32_t kMost = 1'000'000;
    out.lines = parse_number<std::uint32_t>(value).value_or(0);
    if (out.lines < 1 || out.lines > kMost) return wrong(row, fmt::format("{} takes a number of lines", option));
    return {};
  }
  if (const Result<RankSet> ranks = RankSet::parse(value, UINT32_MAX - 1); !ranks) {
    return Error(ranks.error()).in(fmt::format("{}: --ranks", row.name));
  }
  out.ranks = value;
  return {};
}

// "-n3" as "-n=3".
std::string spelled_out(const std::string& word) {
  const bool number_follows = word.starts_with("-n") && all_digits(string_view(word).substr(2));
  return number_follows ? "-n=" + word.substr(2) : word;
}

// Removes one option from the front of `words`, with its value.
Result<void> take_option(const WordRow& row, std::span<const std::string>& words, ControlLine& out) {
  const std::string word = spelled_out(words.front());
  words = words.subspan(1);
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string option = word.substr(0, equals);
  if (row.options.find(" " + option + " ") == string_view::npos) {
    return wrong(row, fmt::format("{} is no option of it", show(option, 60)));
  }
  const bool is_flag = option == "--watch" || option == "--follow" || option == "-f";
  if (is_flag && equals < word.size()) return wrong(row, option + " takes no value");
  if (option == "--watch") out.watch = Watch::Yes;
  if (option == "--follow" || option == "-f") out.follow = Follow::Yes;
  if (is_flag) return {};
  if (equals < word.size()) return set_value(row, option, word.substr(equals + 1), out);
  if (words.empty()) return wrong(row, option + " needs a value");
  const std::string& value = words.front();
  words = words.subspan(1);
  return set_value(row, option, value, out);
}

// Assigns the words that are not options.
Result<void> take_names(const WordRow& row, const std::vector<std::string>& names, ControlLine& out) {
  const std::size_t most = row.job == JobIs::NotNamed ? 0 : row.word == ControlWord::Signal ? 2 : 1;
  const std::size_t least = row.job == JobIs::Required ? most : 0;
  if (names.size() > most) return wrong(row, fmt::format("\"{}\" is too much", show(names[most], 60)));
  if (names.size() < least) return wrong(row, names.empty() ? "the job is missing" : "the signal is missing");
  if (!names.empty()) out.job = names[0];
  if (!names.empty() && names[0].empty()) return wrong(row, "the job's id is empty");
  if (row.word != ControlWord::Signal) return {};
  const std::optional<int> signo = signal_number(names[1]);
  if (!signo) return wrong(row, fmt::format("\"{}\" is no signal", show(names[1], 60)));
  out.signo = *signo;
  return {};
}

std::string help_on(const WordRow& row) { return fmt::format("Usage: sml-run {}\n\n{}\n", row.synopsis, row.text); }

}  // namespace

std::vector<string_view> control_words() {
  std::vector<string_view> out;
  for (const WordRow& row : kWords) out.push_back(row.name);
  return out;
}

string_view name(ControlWord word) { return kWords[static_cast<std::size_t>(word)].name; }

bool is_control_line(string_view called, std::span<const std::string> arguments) {
  if (arguments.empty() || find_word(arguments.front()) == nullptr) return false;
  return dialects::dialect_called(called) == dialects::Dialect::Own;
}

Result<std::variant<ControlLine, Printed>> parse_control_line(std::span<const std::string> arguments) {
  const WordRow& row = *find_word(arguments.front());
  ControlLine out{.word = row.word};
  std::vector<std::string> names;
  for (std::span<const std::string> words = arguments.subspan(1); !words.empty();) {
    if (words.front() == "--help" || words.front() == "-h")
      return std::variant<ControlLine, Printed>(Printed{help_on(row)});
    if (words.front().size() > 1 && words.front()[0] == '-') {
      if (Result<void> taken = take_option(row, words, out); !taken) return taken.error();
      continue;
    }
    names.push_back(words.front());
    words = words.subspan(1);
  }
  if (Result<void> named = take_names(row, names, out); !named) return named.error();
  return std::variant<ControlLine, Printed>(std::move(out));
}

std::string control_help() {
  std::string out = "Running jobs, where the word is the first on the line:\n";
  for (const WordRow& row : kWords) {
    out += fmt::format("  sml-run {}\n      {}\n", row.synopsis, row.text);
  }
  out +=
      "JOB is an id of ps, or its first letters. A program of such a name is started with -- or a path:\n"
      "sml-run -- ps, sml-run ./stop.\n";
  return out;
}

}  // namespace sml
