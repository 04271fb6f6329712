#include "launcher/options/text/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/options/control_line.h"
#include "launcher/options/option_table.h"
#include "launcher/options/text/guesses.h"

namespace sml {

namespace {

using dialects::Dialect;
using std::string_view;

constexpr std::size_t kScreenWidth = 80;
constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kHelpColumn = 35;

// Appends `text`, wrapped into lines that begin at kHelpColumn; the first line continues at the end of `out`.
void append_wrapped(std::string& out, std::size_t column, string_view text) {
  if (column + 2 > kHelpColumn) {
    out += '\n';
    column = 0;
  }
  out.append(kHelpColumn - column, ' ');
  column = kHelpColumn;
  while (!text.empty()) {
    const string_view word = take_until(text, ' ');
    const bool first = column == kHelpColumn;
    if (!first && column + 1 + word.size() > kHelpWidth) {
      out += "\n" + std::string(kHelpColumn, ' ');
      column = kHelpColumn;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

std::string joined(std::span<const string_view> words) {
  std::string out;
  for (string_view word : words) out += (out.empty() ? "" : " ") + std::string(word);
  return out;
}

// "  -p, --ssh-port PORT  What it does. Also OTHER SPELLINGS."
void append_row(std::string& out, const OptionRow& row) {
  constexpr std::size_t kLongestShort = 3;
  const std::vector<string_view> spellings = spellings_of(row);
  std::span<const string_view> aliases(spellings.begin() + 1, spellings.end());
  std::string head = spellings.front().starts_with("--") ? "       " : "   ";
  if (!aliases.empty() && aliases.front().size() <= kLongestShort) {
    head = fmt::format("{:>5}, ", aliases.front());
    aliases = aliases.subspan(1);
  }
  head += spellings.front();
  if (!row.value.empty()) head += fmt::format(" {}", row.value);
  out += head;
  append_wrapped(out, head.size(),
                 aliases.empty() ? std::string(row.help) : fmt::format("{} Also {}.", row.help, joined(aliases)));
}

constexpr string_view kRare = "rare";  // topic of the options that are in no other

std::string group_text(const OptionGroup& group) {
  std::string out = fmt::format("{}:\n", group.title);
  for (const OptionRow& row : group.rows) {
    if (row.listed == Listed::InItsTopic) append_row(out, row);
  }
  return out;
}

bool has_text(const OptionGroup& group) {
  return std::any_of(group.rows.begin(), group.rows.end(),
                     [](const OptionRow& row) { return row.listed == Listed::InItsTopic; });
}

std::string rare_text() {
  const auto listed = [](Listed wanted) {
    std::string out;
    for_each_row([&](const OptionRow& row) {
      if (row.listed == wanted) append_row(out, row);
    });
    return out;
  };
  return "Rare options:\n" + listed(Listed::AsRare) +
         "\nUnder the names of other launchers alone, to which their lines are translated:\n" +
         listed(Listed::UnderOtherNames);
}

std::string all_text() {
  std::string out =
      "Usage: sml-run [options] [--] PROGRAM [ARGS...]\n"
      "       sml-run [options] PROGRAM [ARGS...] : [options] PROGRAM [ARGS...] ...\n"
      "       sml-run [options] train [options] [-- PROGRAM [ARGS...]]\n\n"
      "Starts one job of many workers, here and over SSH on other hosts: gives every worker its rank,\n"
      "merges their output, and when one fails stops all of them and leaves with its exit status.\n"
      "The first word that is no option is the program; everything after it is the program's.\n"
      "train runs the program of a SageMaker training job, as the entry point of its container.\n";
  for (const OptionGroup& group : option_groups()) {
    if (has_text(group)) out += "\n" + group_text(group);
  }
  out += "\n" + control_help();
  out += "\n--help rare shows some more.\n";
  out +=
      "\nExamples:\n"
      "  Four workers on this machine:\n"
      "    sml-run -np 4 python3 train.py\n"
      "  Eight workers on each of two hosts, one variable passed to all of them:\n"
      "    sml-run -H node-[1-2]:8 -x WANDB_MODE python3 train.py\n"
      "  See what would run where; in a SageMaker job the hosts are those of the job:\n"
      "    sml-run --dry-run --nproc-per-node 2 python3 train.py\n";
  return out;
}

// ---- one screen

struct Daily {
  string_view option;
  string_view head;
  string_view text;
};
constexpr std::array kDaily{
    Daily{"--np", "-np N", "number of workers; default: one for every slot"},
    Daily{"--nproc-per-node", "--nproc-per-node N|gpu", "slots of each host; default: the list's, else GPUs"},
    Daily{"--hosts", "-H LIST", "hosts and slots: algo-[1-4]:8,gpu2:4; default: here"},
    Daily{"--hostfile", "--hostfile FILE", "the same from a file, one host a line"},
    Daily{"--nnodes", "--nnodes N --head ADDR", "run the line on all N hosts, no SSH; ADDR: the first"},
    Daily{"-x", "-x NAME[=VALUE]", "give the workers a variable"},
    Daily{"--preset", "--preset tf|jax|...", "set what this framework asks for; torch needs none"},
    Daily{"--max-restarts", "--max-restarts N", "after a failure start all again, at most N times"},
    Daily{"--timeout", "--timeout D", "end the job after D, as 90s or 2h"},
    Daily{"--log-dir", "--log-dir DIR", "write the output of each rank to a file of its own"},
    Daily{"--report", "--report FILE", "write how the job ended, as JSON"},
    Daily{"--timeline", "--timeline FILE.html", "draw the job: where time went, who failed first"},
    Daily{"--check", "--check", "look at the hosts and report problems, start nothing"},
    Daily{"--dry-run", "--dry-run", "print which rank would run where, start nothing"},
};

std::string daily_text() {
  std::string out;
  for (const Daily& daily : kDaily) out += fmt::format("  {:<23} {}\n", daily.head, daily.text);
  return out;
}

// Joins words with ", ", in lines of screen width that begin with two spaces.
std::string in_lines(std::span<const std::string> words) {
  std::string out;
  std::size_t column = kScreenWidth;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
    if (column + 1 + word.size() > kScreenWidth) {
      out += (out.empty() ? "  " : "\n  ") + word;
      column = 2 + word.size();
    } else {
      out += " " + word;
      column += 1 + word.size();
    }
  }
  return out + "\n";
}

std::string topics_text() {
  std::vector<std::string> topics;
  for (string_view topic : help_topics()) topics.emplace_back(topic);
  return "--help all shows all options, --help OPTION one, --help TOPIC those of a topic:\n" + in_lines(topics);
}

// "Running jobs: sml-run ps, status, ...".
std::string running_text() { return fmt::format("Running jobs:  sml-run {}\n", fmt::join(control_words(), ", ")); }

constexpr string_view kManuals = "Manuals:       man sml-run-guide, by task;  man sml-run, all of it\n";

std::string screen() {
  return "Usage: sml-run [options] PROGRAM [ARGS...] [: [options] PROGRAM [ARGS...]]...\n\n" + daily_text() + "\n" +
         running_text() + std::string(kManuals) + topics_text();
}

// The longest name of each option, with its dashes.
std::vector<std::string> options_of(Dialect dialect) {
  std::vector<std::string> out;
  for (const dialects::Row& row : dialects::rows_of(dialect)) {
    const std::size_t space = row.names.rfind(' ');
    const string_view name = row.names.substr(space == string_view::npos ? 0 : space + 1);
    out.push_back(fmt::format("{}{}{}", name.size() == 1 ? "-" : "--", name, row.values > 0 ? " V" : ""));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string screen_of(Dialect dialect) {
  const string_view name = dialects::name_of(dialect);
  return fmt::format(
      "Usage: {0} [options] PROGRAM [ARGS...]\n\n"
      "This is sml-run by the name of {0}. Options of it (V: a value);\n"
      "man sml-run-launchers has what differs:\n{1}\n"
      "and its own, of which these are the daily ones:\n{2}\n{3}",
      name, in_lines(options_of(dialect)), daily_text(), topics_text());
}

// ---- topics

std::vector<string_view> single_words(string_view text) {
  std::vector<string_view> out;
  while (!text.empty()) out.push_back(take_until(text, ' '));
  return out;
}

Error unknown_topic(string_view topic) {
  std::vector<string_view> known = help_topics();
  known.emplace_back("all");
  for (const OtherTopic& other : other_topics()) {
    for (const string_view word : single_words(other.words)) known.push_back(word);
  }
  for_each_row([&known](const OptionRow& row) { known.push_back(without_dashes(main_spelling(row))); });
  const string_view meant = nearest(without_dashes(topic), known);
  const std::string more =
      meant.empty() ? "sml-run --help lists the topics" : fmt::format("did you mean --help {}?", meant);
  return Error(ErrorKind::Usage, fmt::format("there is no help on {}; {}", show(topic, 60), more));
}

const OptionRow* row_named(string_view word) {
  const OptionRow* row = find_row(word);
  return row != nullptr || word.starts_with('-') ? row : find_row("--" + std::string(word));
}

std::string topic_text(const OtherTopic& topic) {
  std::string out(topic.text);
  for (const string_view word : single_words(topic.topics)) {
    if (!out.empty() && !word.starts_with('-')) out += '\n';
    const auto is_it = [word](const OptionGroup& group) { return group.topic == word; };
    const std::vector<OptionGroup>& groups = option_groups();
    const auto group = std::find_if(groups.begin(), groups.end(), is_it);
    if (group != groups.end()) out += group_text(*group);
    if (word == "running") out += control_help();
    if (const OptionRow* row = find_row(word)) append_row(out, *row);
  }
  return out;
}

// An option of another launcher, as "--env": the options that it becomes. Empty: there is none of that name.
std::string foreign_text(string_view word) {
  const std::string dashed = word.starts_with('-') ? std::string(word) : "--" + std::string(word);
  const dialects::Row* row = dialects::find_row(Dialect::Own, dashed);
  if (row == nullptr) return "";
  const std::string of_others = fmt::format("{} is an option of another launcher", dashed);
  const std::vector<std::string> samples =
      row->values == 2 ? std::vector<std::string>{"NAME", "VALUE"} : std::vector<std::string>(row->values, "1");
  const Result<dialects::OptionTranslation> meaning = row->meaning(dashed, samples);
  if (!meaning) {
    const bool of_the_sample = meaning.error().message().starts_with('"');
    return fmt::format("{}: {}\n", of_others, of_the_sample ? "see man sml-run-launchers" : meaning.error().message());
  }
  if (!meaning->note.empty()) return of_others + ", and without effect here.\n";
  if (meaning->options.empty()) return of_others + "; see man sml-run-launchers.\n";
  std::string out = of_others + ", and means here:\n";
  for (const dialects::SetOption& given : meaning->options) {
    if (const OptionRow* own = find_row(given.option)) append_row(out, *own);
  }
  return out;
}

// The options whose help has the word; empty: none has.
std::string options_that_tell_of(string_view word) {
  constexpr std::size_t kShortest = 4;
  constexpr int kMost = 12;
  std::string out;
  int found = 0;
  if (word.size() < kShortest) return out;
  for_each_row([&](const OptionRow& row) {
    if (row.listed == Listed::UnderOtherNames) return;
    const std::string text = lower(fmt::format("{} {}", row.spellings, row.help));
    if (text.find(word) == std::string::npos || ++found > kMost) return;
    append_row(out, row);
  });
  return out.empty() ? out : fmt::format("No topic has this name; options whose help has {}:\n{}", word, out);
}

// For a word that is neither a topic of ours nor an option.
Result<std::string> other_text(string_view word) {
  std::string foreign = word.starts_with('-') ? foreign_text(word) : "";
  if (!foreign.empty()) return foreign;
  const std::string name = lower(without_dashes(word));
  if (const OtherTopic* topic = other_topic(name)) return topic_text(*topic);
  if (std::string text = foreign_text(word); !text.empty()) return text;
  if (std::string text = options_that_tell_of(name); !text.empty()) return text;
  return unknown_topic(word);
}

}  // namespace

std::string newcomer_text(string_view called) {
  if (dialects::dialect_called(called) != Dialect::Own) return "";
  return "\n"
         "  sml-run -np 4 sh -c 'echo rank $RANK of $WORLD_SIZE'   # 4 workers, here\n"
         "  sml-run -np 4 python3 train.py                         # 4 of your script\n"
         "  sml-run -H host1:2,host2:2 python3 train.py            # 2 on each of 2 hosts\n"
         "\n"
         "sml-run --help shows the daily options; man sml-run-guide has a section for each\n"
         "task: SSH, Slurm, SageMaker, Kubernetes, MPI, restarts, debugging.\n";
}

std::vector<string_view> help_topics() {
  std::vector<string_view> out;
  for (const OptionGroup& group : option_groups()) {
    if (has_text(group)) out.push_back(group.topic);
  }
  out.emplace_back("running");
  out.push_back(kRare);
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::string> help_text(Dialect dialect, string_view topic) {
  if (topic.empty()) return dialect == Dialect::Own ? screen() : screen_of(dialect);
  if (topic == "all") return all_text();
  const std::vector<string_view> words = control_words();
  if (topic == "running" || std::find(words.begin(), words.end(), topic) != words.end()) return control_help();
  if (topic == kRare) return rare_text();
  const std::vector<OptionGroup>& groups = option_groups();
  const auto named = [topic](const OptionGroup& group) { return group.topic == topic && has_text(group); };
  const auto group = std::find_if(groups.begin(), groups.end(), named);
  if (group != groups.end()) return group_text(*group);
  const OptionRow* row = row_named(topic);
  if (row == nullptr && dialect != Dialect::Own) return screen_of(dialect);  // the other launcher's topics, and scripts
  if (row == nullptr) return other_text(topic);
  std::string out;
  append_row(out, *row);
  if (row->listed == Listed::UnderOtherNames) out += "Known under the names of other launchers alone.\n";
  return out;
}

}  // namespace sml
