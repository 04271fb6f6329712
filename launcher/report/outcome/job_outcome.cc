#include "launcher/report/outcome/job_outcome.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <variant>

#include "common/core/text.h"
#include "launcher/report/outcome/causes.h"

namespace sml::report {

namespace {

constexpr std::size_t kLongestFault = 500;

// Messages of a host that broke the protocol later do not count.
bool is_believed(const AttemptFacts& facts, const AttemptFacts::WorkerEnd& end) {
  return std::none_of(facts.faults.begin(), facts.faults.end(), [&](const AttemptFacts::HostFault& fault) {
    return fault.why.kind() == ErrorKind::Protocol && fault.host == end.host;
  });
}

const AttemptFacts::WorkerEnd* first_failure(const AttemptFacts& facts) {
  const AttemptFacts::WorkerEnd* first = nullptr;
  for (const AttemptFacts::WorkerEnd& end : facts.ends) {
    if (end.by_itself && (first == nullptr || end.at < first->at) && is_believed(facts, end)) first = &end;
  }
  return first;
}

// How long after a peer's exit with status 1 this death still counts as its cause; nullopt: never.
std::optional<Duration> outranks_for(const ExitStatus& status) {
  const auto* signaled = std::get_if<Signaled>(&status);
  if (signaled == nullptr) return std::nullopt;
  switch (signaled->signo) {
    case SIGKILL:
    case SIGSEGV:
    case SIGBUS:
    case SIGILL: return std::chrono::seconds(1);
    case SIGABRT: return std::chrono::milliseconds(200);
    default: return std::nullopt;
  }
}

bool is_cascade(const AttemptFacts::WorkerEnd& end) {
  const std::optional<Cause> cause = known_cause(end.error.message, end.last_lines);
  return cause && cause->kind == CauseKind::Cascade;
}

// Libraries of torch end a rank that has lost a peer so: an exception in a thread that no one catches.
bool is_abort(const ExitStatus& status) {
  const auto* signaled = std::get_if<Signaled>(&status);
  return signaled != nullptr && signaled->signo == SIGABRT;
}

const AttemptFacts::WorkerEnd* killed_before(const AttemptFacts& facts, const AttemptFacts::WorkerEnd* first) {
  const AttemptFacts::WorkerEnd* killed = nullptr;
  for (const AttemptFacts::WorkerEnd& end : facts.ends) {
    const std::optional<Duration> window = end.by_itself ? outranks_for(end.status) : std::nullopt;
    if (!window || end.at > first->at + *window || !is_believed(facts, end)) continue;
    if (is_abort(end.status) && is_cascade(end)) continue;
    if (killed == nullptr || end.at < killed->at) killed = &end;
  }
  return killed;
}

// It may be what follows where a peer has gone: scripts exit with 1, libraries of torch abort, and those of MPI ask for
// the job's end.
bool may_follow(const AttemptFacts::WorkerEnd& end) {
  return end.status == ExitStatus(Exited{1}) || is_abort(end.status) || end.aborted;
}

// Returns the earliest rank that ended soon after `first`, which had only lost a peer, with another last word, or whose
// library did not end the job while that of `first` did.
const AttemptFacts::WorkerEnd* root_of_cascade(const AttemptFacts& facts, const AttemptFacts::WorkerEnd& first) {
  const AttemptFacts::WorkerEnd* root = nullptr;
  for (const AttemptFacts::WorkerEnd& end : facts.ends) {
    if (!end.by_itself || end.at > first.at + kRootCauseWindow || !is_believed(facts, end)) continue;
    const bool says_something = !end.error.message.empty() || !end.last_lines.empty();
    const bool left_first = first.aborted && end.fault.empty();
    if (!(says_something || left_first) || is_cascade(end)) continue;
    if (root == nullptr || end.at < root->at) root = &end;
  }
  return root;
}

const AttemptFacts::WorkerEnd* find_root_cause(const AttemptFacts& facts) {
  const AttemptFacts::WorkerEnd* first = first_failure(facts);
  if (first == nullptr || !may_follow(*first)) return first;
  if (const AttemptFacts::WorkerEnd* killed = killed_before(facts, first)) return killed;
  if (!is_consequence(*first)) return first;
  const AttemptFacts::WorkerEnd* root = root_of_cascade(facts, *first);
  return root != nullptr ? root : first;
}

std::string seconds_since(TimePoint from, TimePoint to) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", in_seconds(to - from));
  return text;
}

// Faults with the same words; hosts and groups in host order, so that the report does not depend on timing.
struct AlikeFaults {
  const Error* why;
  std::vector<std::string> hosts;
  std::vector<std::string> details;  // of each host
};

std::vector<AlikeFaults> fold(const std::vector<AttemptFacts::HostFault>& faults) {
  std::vector<std::reference_wrapper<const AttemptFacts::HostFault>> ordered(faults.begin(), faults.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.get().index < b.get().index; });
  std::vector<AlikeFaults> groups;
  for (const AttemptFacts::HostFault& fault : ordered) {
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const AlikeFaults& g) { return *g.why == fault.why; });
    if (same == groups.end()) {
      groups.push_back({&fault.why, {fault.host}, {fault.why.detail()}});
    } else if (same->hosts.back() != fault.host) {  // a host may have the same fault more than once
      same->hosts.push_back(fault.host);
      same->details.push_back(fault.why.detail());
    }
  }
  return groups;
}

void tell_details(const AlikeFaults& group, std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 16;
  for (std::size_t i = 0; i < group.hosts.size() && i < kMost; ++i) {
    if (!group.details[i].empty()) lines.push_back("  " + group.hosts[i] + ": " + group.details[i]);
  }
  const bool has_details = !group.why->detail().empty();
  if (has_details && group.hosts.size() > kMost) {
    lines.push_back("  and " + std::to_string(group.hosts.size() - kMost) + " more");
  }
}

void tell_faults(const AttemptFacts& facts, std::vector<std::string>& lines) {
  const std::vector<AlikeFaults> groups = fold(facts.faults);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const AlikeFaults& group = groups[i];
    const std::string hosts = fold_names(group.hosts);
    lines.push_back(group.hosts.size() == 1
                        ? hosts + ": " + group.why->text()
                        : std::to_string(group.hosts.size()) + " hosts: " + group.why->message() + ": " + hosts);
    if (group.hosts.size() > 1) tell_details(group, lines);
    const std::string hint = hint_for(*group.why, group.hosts);
    const bool again = i + 1 < groups.size() && hint_for(*groups[i + 1].why, groups[i + 1].hosts) == hint;
    if (!hint.empty() && !again) lines.push_back("hint: " + hint);
  }
}

std::string send_end(const AttemptFacts& facts, const AttemptFacts::WorkerEnd& end) {
  if (std::holds_alternative<SpawnFailed>(end.status)) {
    return "rank " + std::to_string(end.rank.value()) + " on " + end.host + " did not start: " + describe(end.status) +
           " (" + show(end.program.empty() ? facts.program : end.program) + ")";
  }
  const std::string what = end.fault.empty() ? describe(end.status) : show(end.fault, kLongestFault);
  return "rank " + std::to_string(end.rank.value()) + " on " + end.host + " " + what + " after " +
         seconds_since(facts.started, end.at);
}

std::string tell_stalled(const AttemptFacts::Stalled& stalled) {
  const NoProgress& what = stalled.what;
  if (what.limit == NoProgress::Limit::SilenceOfAll) {
    return "stopped: no rank has printed anything for " + format_duration(what.timeout) + " (--on-silent)";
  }
  if (what.limit == NoProgress::Limit::Silence) {
    return "stopped: " + stalled.who + (what.ranks.size() == 1 ? " has" : " have") + " printed nothing for " +
           format_duration(what.timeout) + ", while others have (--on-silent)";
  }
  const bool first = what.limit == NoProgress::Limit::First;
  return "stopped: " + stalled.who + (what.ranks.size() == 1 ? " has" : " have") + " printed no line that matches \"" +
         show(what.pattern, 100) + "\" " + (first ? "in the first " : "for ") + format_duration(what.timeout) +
         " (--watch)";
}

// Whether --watch or --on-silent had ended the job before anything else.
bool stalled_first(const AttemptFacts& facts, TimePoint failed_at) {
  if (!facts.stalled || facts.stalled->at > failed_at) return false;
  return !facts.stop_signal || facts.stalled->at < facts.stop_at;
}

void tell_rest(const AttemptFacts& facts, std::vector<std::string>& lines) {
  for (const std::string& left : facts.left_behind) lines.push_back("could not be ended: " + left);
  if (!facts.unconfirmed.empty()) {
    lines.push_back("no word that all is over from: " + fold_names(facts.unconfirmed) +
                    "; its agent ends everything by itself when it sees that we are gone");
  }
}

// The exit status of the faults: a fault of the launcher (125) outranks a missing program.
int exit_code_of_faults(const std::vector<AttemptFacts::HostFault>& faults) {
  int code = 0;
  for (const AttemptFacts::HostFault& fault : faults) {
    const int own = exit_code_of(fault.why.kind());
    if (code == 0 || own < code) code = own;
  }
  return code;
}

JobOutcome judge_own(const Error& why) {
  JobOutcome out{exit_code_of(why.kind()), FailureCause::Launcher, nullptr, {"stopped: " + why.message()}};
  if (!why.hint().empty()) out.lines.push_back("hint: " + why.hint());
  return out;
}

std::string tell_time_limit(const AttemptFacts& facts) {
  if (facts.waited_out) {
    return "stopped: the job had gone on for " + seconds_since(TimePoint(), TimePoint(*facts.waited_out)) +
           ", waits between attempts included, the limit of --timeout";
  }
  const bool again = facts.first_start != TimePoint() && facts.first_start != facts.started;
  return "stopped: the workers had run for " +
         seconds_since(again ? facts.first_start : facts.started, *facts.timed_out) +
         (again ? ", all attempts together, the limit of --timeout" : ", the limit of --timeout");
}

struct StopSignal {
  int signo;
  TimePoint at;
};

// A batch system signals all processes of a job within this time.
constexpr Duration kAtOnce = std::chrono::seconds(1);

// Whether the worker ended by that signal, before the launcher had got it.
bool ended_by(const AttemptFacts::WorkerEnd& end, const StopSignal& stop) {
  if (stop.at - end.at > kAtOnce) return false;
  // A shell exits with 128 and the signal that has ended what it waited for.
  const auto* signaled = std::get_if<Signaled>(&end.status);
  const auto* exited = std::get_if<Exited>(&end.status);
  return (signaled != nullptr && signaled->signo == stop.signo) ||
         (exited != nullptr && exited->code == 128 + stop.signo);
}

// Whether the host's agent did.
bool ended_by(const AttemptFacts::HostFault& fault, const StopSignal& stop) {
  const std::string reason = "asked to end by " + signal_name(stop.signo);  // Agent's own words
  return stop.at - fault.at <= kAtOnce && fault.why.message().ends_with(reason);
}

bool is_fault_first(const AttemptFacts& facts, const AttemptFacts::WorkerEnd* first) {
  return !facts.faults.empty() && (first == nullptr || facts.faults.front().at < first->at);
}

bool began_with(const AttemptFacts& facts, const AttemptFacts::WorkerEnd* first, const StopSignal& stop) {
  if (is_fault_first(facts, first)) return ended_by(facts.faults.front(), stop);
  return first != nullptr && ended_by(*first, stop);
}

// Success requires that every rank has reported it.
void judge_unseen(const AttemptFacts& facts, JobOutcome& verdict) {
  const auto unknown = [&verdict](std::string words) {
    verdict.exit_code = 125;
    verdict.by = FailureCause::Unknown;
    verdict.lines.push_back(std::move(words));
  };
  if (verdict.exit_code == 0 && !facts.ends.empty()) unknown("workers were ended, and the cause is unknown");
  if (verdict.exit_code == 0 && facts.unseen > 0) {
    const std::string ranks = std::to_string(facts.unseen) + (facts.unseen == 1 ? " rank" : " ranks");
    unknown("the end of " + ranks + " was not reported, and the cause is unknown");
  }
}

}  // namespace

bool was_killed_by_others(const AttemptFacts::WorkerEnd& end) {
  const auto* signaled = std::get_if<Signaled>(&end.status);
  const bool is_killed = signaled != nullptr && signaled->signo == SIGKILL;
  return is_killed && end.by_itself && end.fault.empty() && end.out_of_memory.empty();
}

void blame_hosts_for_kills(AttemptFacts& facts) {
  const AttemptFacts::WorkerEnd* killed = find_root_cause(facts);
  if (killed == nullptr || !was_killed_by_others(*killed)) return;
  const bool lost = std::any_of(facts.lost_in_stop.begin(), facts.lost_in_stop.end(),
                                [killed](const AttemptFacts::HostFault& fault) { return fault.host == killed->host; });
  if (!lost) return;
  const TimePoint just_before = first_failure(facts)->at - Duration(1);
  std::for_each(facts.lost_in_stop.rbegin(), facts.lost_in_stop.rend(), [&](AttemptFacts::HostFault fault) {
    fault.at = just_before;
    facts.faults.insert(facts.faults.begin(), std::move(fault));
  });
}

bool counts_late(const AttemptFacts& facts, int signo, TimePoint at) {
  const StopSignal stop{signo, at};
  const bool at_rest = !facts.faults.empty() && ended_by(facts.faults.back(), stop);
  return at_rest || began_with(facts, first_failure(facts), stop);
}

bool is_consequence(const AttemptFacts::WorkerEnd& end) { return may_follow(end) && is_cascade(end); }

JobOutcome judge(const AttemptFacts& facts) {
  JobOutcome verdict;
  const AttemptFacts::WorkerEnd* worker = find_root_cause(facts);
  const AttemptFacts::WorkerEnd* first =
      first_failure(facts);  // its time counts, even if another worker is the root cause
  const bool fault_first = is_fault_first(facts, first);
  const TimePoint failed_at = fault_first ? facts.faults.front().at : first != nullptr ? first->at : TimePoint::max();
  if (stalled_first(facts, failed_at)) {
    verdict = {kNoProgressExit, FailureCause::Stalled, nullptr, {tell_stalled(*facts.stalled)}};
  } else if (facts.stop_signal && (facts.stop_at <= failed_at || facts.stopped_at_rest ||
                                   began_with(facts, first, {*facts.stop_signal, facts.stop_at}))) {
    verdict = {
        128 + *facts.stop_signal, FailureCause::User, nullptr, {"stopped by " + signal_name(*facts.stop_signal)}};
  } else if (facts.regroups && *facts.regroups <= failed_at) {
    verdict = {
        exit_code_of(ErrorKind::Lost), FailureCause::Regroup, nullptr, {"stopped: other hosts are to have workers"}};
  } else if (facts.own_fault && facts.own_fault->at <= failed_at) {
    verdict = judge_own(facts.own_fault->why);
  } else if (facts.timed_out && (*facts.timed_out <= failed_at || facts.waited_out)) {
    verdict = {facts.timeout_status, FailureCause::TimeLimit, nullptr, {tell_time_limit(facts)}};
  } else if (fault_first) {
    verdict.exit_code = exit_code_of_faults(facts.faults);
    verdict.by = FailureCause::Host;
    tell_faults(facts, verdict.lines);
    if (worker != nullptr && was_killed_by_others(*worker))
      verdict.lines.push_back("  then: " + send_end(facts, *worker));
  } else if (worker != nullptr) {
    verdict = {exit_code_of(worker->status), FailureCause::Worker, worker, {send_end(facts, *worker)}};
    tell_faults(facts, verdict.lines);
  } else if (facts.output_gone) {
    const bool no_reader = facts.output_errno == 0 || facts.output_errno == EPIPE;
    verdict.exit_code = no_reader ? 128 + SIGPIPE : 125;
    verdict.by = FailureCause::Output;
    if (!no_reader)
      verdict.lines.push_back("stopped: cannot write the workers' output: " + errno_text(facts.output_errno));
  }
  judge_unseen(facts, verdict);
  tell_rest(facts, verdict.lines);
  if (verdict.exit_code == 0 && !facts.unconfirmed.empty()) {
    verdict.exit_code = 125;
    verdict.by = FailureCause::Unknown;
  }
  return verdict;
}

std::string in_words(const JobOutcome& verdict) {
  if (!verdict.lines.empty()) return verdict.lines.front();
  return verdict.exit_code == 0 ? "all workers exited with status 0" : "stopped: nobody reads the output any more";
}

}  // namespace sml::report
