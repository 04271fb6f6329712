#include "launcher/options/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "launcher/options/option_table.h"

namespace sml {

namespace {

using std::string_view;

constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kHelpColumn = 35;

// Words of `text` in lines that begin at kHelpColumn; the first line begins where `out` ends.
void append_wrapped(std::string& out, std::size_t column, string_view text) {
  if (column + 2 > kHelpColumn) {
    out += '\n';
    column = 0;
  }
  out.append(kHelpColumn - column, ' ');
  column = kHelpColumn;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const bool first = column == kHelpColumn;
    if (!first && column + 1 + end - at > kHelpWidth) {
      out += "\n" + std::string(kHelpColumn, ' ');
      column = kHelpColumn;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += text.substr(at, end - at);
    column += end - at;
    at = end + 1;
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

}  // namespace

std::string help_text() {
  std::string out =
      "Usage: sml-run [options] [--] PROGRAM [ARGS...]\n"
      "       sml-run [options] PROGRAM [ARGS...] : [options] PROGRAM [ARGS...] ...\n"
      "       sml-run [options] train [options] [-- PROGRAM [ARGS...]]\n\n"
      "Starts one job of many workers, here and over SSH on other hosts: tells every worker its rank,\n"
      "merges their output, and when one fails stops all of them and leaves with its exit status.\n"
      "The first word that is no option is the program; everything after it is the program's.\n"
      "train runs the program of a SageMaker training job, as the entry point of its container.\n";
  for (const OptionGroup& group : option_groups()) {
    out += fmt::format("\n{}:\n", group.title);
    for (const OptionRow& row : group.rows) append_row(out, row);
  }
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

}  // namespace sml
