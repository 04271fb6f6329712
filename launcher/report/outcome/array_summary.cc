#include "launcher/report/outcome/array_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "common/core/exit_status.h"
#include "common/core/text.h"

namespace sml::report {

namespace {

constexpr std::size_t kValueBytes = 24;

using SummaryRow = std::vector<std::string>;

SummaryRow row_of(const plan::ArrayTask& task, const ArrayEnd& end) {
  const std::string took = end.exit_code ? fmt::format("{:.1f} s", in_seconds(end.took)) : "";
  SummaryRow row{std::to_string(task.index), std::to_string(task.line),
                 end.exit_code ? std::to_string(*end.exit_code) : "not run", took};
  for (const std::string& value : task.values) row.push_back(show(value, kValueBytes));
  return row;
}

// Aligns numbers to the right, and fields of the file to the left.
std::vector<std::string> table(const std::vector<SummaryRow>& rows) {
  constexpr std::size_t kNumbers = 4;
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const SummaryRow& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::vector<std::string> out;
  for (const SummaryRow& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string_view gap = c == 0 ? "" : "  ";
      const std::string padding(widths[c] - row[c].size(), ' ');
      line += c < kNumbers ? fmt::format("{}{}{}", gap, padding, row[c]) : fmt::format("{}{}{}", gap, row[c], padding);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out.push_back(std::move(line));
  }
  return out;
}

std::size_t count_if(const ArrayFacts& facts, bool (*matches)(const ArrayEnd&)) {
  return static_cast<std::size_t>(std::count_if(facts.ends.begin(), facts.ends.end(), matches));
}

}  // namespace

ArrayVerdict judge_array(const ArrayFacts& facts) {
  ArrayVerdict verdict;
  SummaryRow head{"index", "line", "status", "time"};
  head.insert(head.end(), facts.names.begin(), facts.names.end());
  std::vector<SummaryRow> rows{std::move(head)};
  const ArrayEnd* first_failure = nullptr;
  for (std::size_t i = 0; i < facts.tasks.size(); ++i) {
    const ArrayEnd& end = facts.ends[i];
    rows.push_back(row_of(facts.tasks[i], end));
    const bool failed = end.exit_code && *end.exit_code != 0;
    if (failed && (first_failure == nullptr || end.at < first_failure->at)) first_failure = &end;
  }
  verdict.lines = table(rows);
  const std::size_t good = count_if(facts, [](const ArrayEnd& e) { return e.exit_code == 0; });
  const std::size_t not_run = count_if(facts, [](const ArrayEnd& e) { return !e.exit_code; });
  verdict.lines.push_back(fmt::format("{} of {} runs succeeded, {} failed{}", good, facts.ends.size(),
                                      facts.ends.size() - good - not_run,
                                      not_run > 0 ? fmt::format(", {} not started", not_run) : ""));
  if (facts.stop_signal) {
    verdict.exit_code = 128 + *facts.stop_signal;
    verdict.lines.push_back("stopped by " + signal_name(*facts.stop_signal));
  } else if (first_failure != nullptr) {
    verdict.exit_code = *first_failure->exit_code;
  }
  return verdict;
}

}  // namespace sml::report
