#include "launcher/report/outcome/job_report.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <map>
#include <variant>

#include "common/core/text.h"
#include "launcher/report/outcome/causes.h"

namespace sml::report {

namespace {

constexpr std::size_t kMaxConsequences = 4;
constexpr std::size_t kMaxAttempts = 5;  // listed one by one

// "0-3,7": ranks as folded numbers.
std::string fold_ranks(std::vector<std::uint32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(ranks[i]);
    if (last > i) out += '-' + std::to_string(ranks[last]);
    i = last + 1;
  }
  return out;
}

void tell_exception(const AttemptFacts::WorkerEnd& root_cause, std::vector<std::string>& lines) {
  if (root_cause.error.message.empty()) return;
  const std::string_view message = root_cause.error.message;
  lines.push_back("  it reported: " + show(message.substr(0, message.find('\n')), 500));
}

void tell_last_lines(const AttemptFacts::WorkerEnd& root_cause, std::vector<std::string>& lines) {
  if (root_cause.last_lines.empty()) return;
  lines.push_back("  its last lines on stderr:");
  for (const std::string& line : root_cause.last_lines) lines.push_back("    | " + show(line, 160));
}

// Ranks that were stopped meanwhile may have printed why the root cause lost them.
void tell_roots(const AttemptFacts& facts, const AttemptFacts::WorkerEnd& root_cause, std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 2;
  std::size_t told = 0;
  for (const AttemptFacts::WorkerEnd& end : facts.ends) {
    if (end.rank == root_cause.rank || told == kMost) continue;
    const std::string_view exception = own_exception(end.last_lines);
    if (exception.empty()) continue;
    ++told;
    lines.push_back("  rank " + std::to_string(end.rank.value()) + " on " + end.host +
                    " had printed: " + show(exception, 160));
  }
}

void tell_cause(const AttemptFacts& facts, const AttemptFacts::WorkerEnd& root_cause, std::vector<std::string>& lines) {
  const std::optional<Cause> cause = known_cause(root_cause.error.message, root_cause.last_lines);
  if (!cause) return;
  std::string words(cause->words);
  if (asked_for_input(*cause) && facts.input && *facts.input != root_cause.rank) {
    const std::string rank = std::to_string(root_cause.rank.value());
    words = "it asked for input, and only rank " + std::to_string(facts.input->value()) + " has it; --stdin " + rank +
            " gives it to rank " + rank;
  }
  if (cause->kind == CauseKind::Root) {
    if (root_cause.out_of_memory.empty()) lines.push_back("  known cause: " + words);
  } else if (facts.ends.size() > 1) {
    lines.push_back("  probably a consequence: " + words);
    tell_roots(facts, root_cause, lines);
  }
}

void tell_details(const AttemptFacts& facts, const AttemptFacts::WorkerEnd& root_cause,
                  std::vector<std::string>& lines) {
  if (root_cause.pid > 0) lines.back() += " (pid " + std::to_string(root_cause.pid) + ")";
  if (!root_cause.out_of_memory.empty()) {
    lines.push_back("  the kernel killed for lack of memory on that host: " + root_cause.out_of_memory);
  }
  if (was_killed_by_others(root_cause)) {
    lines.push_back("  hint: sml-run did not send SIGKILL; if the kernel did, for lack of memory, dmesg on " +
                    root_cause.host + " shows it");
  }
  tell_cause(facts, root_cause, lines);
  tell_exception(root_cause, lines);
  tell_last_lines(root_cause, lines);
  if (root_cause.keeps_lines && facts.stdout_is_pipe) {
    lines.emplace_back(
        "  hint: the last lines that it printed may be lost, as C keeps up to 4096 bytes for a pipe; --pty has each "
        "come at once");
  }
}

// Failures by themselves after the root cause, folded by kind, with their hosts.
void tell_consequences(const AttemptFacts& facts, const AttemptFacts::WorkerEnd& root_cause,
                       std::vector<std::string>& lines) {
  struct AlikeEnds {
    std::vector<std::uint32_t> ranks;
    std::vector<std::string> hosts;
  };
  std::map<std::string, AlikeEnds> groups;
  std::vector<std::reference_wrapper<const AttemptFacts::WorkerEnd>> ends(facts.ends.begin(), facts.ends.end());
  std::sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.get().rank < b.get().rank; });
  for (const AttemptFacts::WorkerEnd& end : ends) {
    if (!end.by_itself || end.rank == root_cause.rank) continue;
    const std::optional<Cause> cause = known_cause(end.error.message, end.last_lines);
    const bool cascade = cause && cause->kind == CauseKind::Cascade;
    // Words in the past tense fit several ranks, too.
    const bool by_fault = end.aborted || end.fault.starts_with("exited");
    AlikeEnds& group =
        groups[(by_fault ? end.fault : describe(end.status)) + (cascade ? ": " + std::string(cause->words) : "")];
    group.ranks.push_back(end.rank.value());
    if (std::find(group.hosts.begin(), group.hosts.end(), end.host) == group.hosts.end())
      group.hosts.push_back(end.host);
  }
  std::size_t told = 0;
  for (const auto& [what, group] : groups) {
    if (++told > kMaxConsequences) break;
    const bool many = group.ranks.size() > 1;
    lines.push_back("  then: rank" + std::string(many ? "s " : " ") + fold_ranks(group.ranks) + " on " +
                    fold_names(group.hosts) + " " +
                    (many && what.starts_with("was ") ? "were " + what.substr(4) : what));
  }
  const auto stopped = std::count_if(facts.ends.begin(), facts.ends.end(), [](const auto& e) { return !e.by_itself; });
  if (stopped > 0)
    lines.push_back("  then: " + std::to_string(stopped) + (stopped == 1 ? " other was" : " others were") + " stopped");
}

void bound(std::vector<std::string>& lines, std::size_t most) {
  if (lines.size() <= most) return;
  const std::size_t more = lines.size() - (most - 1);
  lines.resize(most - 1);
  lines.push_back("and " + std::to_string(more) + " more lines");
}

}  // namespace

std::vector<std::string> attempt_report(const AttemptFacts& facts, const JobOutcome& verdict) {
  std::vector<std::string> lines;
  if (verdict.root_cause == nullptr) {
    lines = verdict.lines;
    bound(lines, kMaxLines);
    return lines;
  }
  lines.push_back(verdict.lines.front());
  tell_details(facts, *verdict.root_cause, lines);
  tell_consequences(facts, *verdict.root_cause, lines);
  lines.insert(lines.end(), verdict.lines.begin() + 1, verdict.lines.end());
  bound(lines, kMaxLines - 1);
  return lines;
}

std::vector<std::string> job_report(const AttemptFacts& facts, const JobOutcome& verdict) {
  std::vector<std::string> lines = attempt_report(facts, verdict);
  if (verdict.root_cause != nullptr) {
    lines.push_back("exit status " + std::to_string(verdict.exit_code) + ", that of rank " +
                    std::to_string(verdict.root_cause->rank.value()) + ", which failed first");
  }
  return lines;
}

std::vector<std::string> attempts_report(std::span<const AttemptRecord> earlier, std::uint32_t last, int exit_code) {
  std::vector<std::string> lines;
  if (earlier.empty()) return lines;
  const bool begun = last > earlier.back().number;
  const std::string what = begun ? exit_code == 0 ? "succeeded in" : "failed in" : "ended before";
  lines.push_back("the job " + what + " attempt " + std::to_string(begun ? last : last + 1) + ", after:");
  const std::size_t hidden = earlier.size() > kMaxAttempts ? earlier.size() - kMaxAttempts : 0;
  if (hidden > 0) {
    lines.push_back("  attempts " + std::to_string(earlier.front().number) + " to " +
                    std::to_string(earlier[hidden - 1].number) + ", which failed too");
  }
  for (const AttemptRecord& attempt : earlier.subspan(hidden)) {
    lines.push_back("  attempt " + std::to_string(attempt.number) + ": " + attempt.words);
  }
  return lines;
}

}  // namespace sml::report
