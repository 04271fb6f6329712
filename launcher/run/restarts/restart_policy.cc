#include "launcher/run/restarts/restart_policy.h"

#include <algorithm>
#include <set>

#include "common/core/text.h"

namespace sml::run {

namespace {

using report::FailureCause;

constexpr Duration kSecondDelay = std::chrono::seconds(1);  // if the first is zero

// True if the command line is wrong or the program is missing, which a restart would not change.
bool is_permanent(const ExitStatus& status) {
  const int code = exit_code_of(status);
  return !std::holds_alternative<Signaled>(status) && (code == 2 || code == 126 || code == 127);
}

bool within(const PastAttempt& attempt, TimePoint now, const std::optional<Duration>& window) {
  return !window || attempt.ended > now - *window;
}

std::string permanent_reason(const PastAttempt& last) {
  if (last.cause == FailureCause::Host && !last.host_is_out) return "a host has failed";
  if (last.cause == FailureCause::Host && last.would_recur) return "that would come again";
  const bool mends = last.cause == FailureCause::Worker || last.cause == FailureCause::Stalled ||
                     last.cause == FailureCause::Host || last.cause == FailureCause::Regroup;
  if (!mends) return "that is not for another attempt to mend";
  if (!last.no_hosts.empty()) {
    return (last.left_behind ? "processes of this attempt could not be ended; " : "") + last.no_hosts;
  }
  if (!last.status || !is_permanent(*last.status)) return "";
  return "status " + std::to_string(exit_code_of(*last.status)) + " would come again";
}

std::string rule_that_holds(const RestartOptions& options, std::span<const PastAttempt> history) {
  for (const GiveUpRule& rule : options.give_up) {
    if (!rule.counts(history.back().status)) continue;
    const auto failures = std::count_if(history.begin(), history.end(), [&](const PastAttempt& attempt) {
      return within(attempt, history.back().ended, rule.within) && rule.counts(attempt.status);
    });
    if (static_cast<std::uint64_t>(failures) >= rule.failures) return "--give-up " + show(rule.text, 100);
  }
  return "";
}

// A restart counts at the time at which the attempt before it ended; what follows a free attempt is no restart.
std::string budget_that_is_spent(const RestartOptions& options, std::span<const PastAttempt> history) {
  const std::span<const PastAttempt> restarted = history.first(history.size() - 1);
  const auto used = std::count_if(restarted.begin(), restarted.end(), [&](const PastAttempt& attempt) {
    return !attempt.is_no_restart && within(attempt, history.back().ended, options.window);
  });
  std::uint64_t resets = 0;
  for (const PastAttempt& attempt : history) resets += attempt.resets;
  if (static_cast<std::uint64_t>(used) + resets < options.max) return "";
  return std::to_string(options.max) + (options.max == 1 ? " restart has" : " restarts have") + " been used" +
         (options.window ? " in " + format_duration(*options.window) : "") + " (--max-restarts)";
}

// Failures that a rule of --give-up counts are left to that rule.
bool is_for_a_rule(const RestartOptions& options, const PastAttempt& attempt) {
  return std::any_of(options.give_up.begin(), options.give_up.end(),
                     [&](const GiveUpRule& rule) { return rule.allows_some() && rule.counts(attempt.status); });
}

std::string missing_signs(const Signs& signs, std::size_t attempts) {
  if (signs.file_touched && signs.line_matched) {
    return "the file of --progress-file was not touched, and no line matched --watch";
  }
  if (signs.file_touched) return "the file of --progress-file was not touched";
  if (signs.line_matched) return "no line matched --watch";
  return std::string(attempts == 1 ? "it" : "they") + " ended within a minute, and not all ranks had joined";
}

// After how many the job ends; 0: any number. The progress of a program that joins nowhere is unknown: for such a
// program they count only if the user asks for it.
std::uint32_t most_without_progress(const RestartOptions& options, std::span<const PastAttempt> history) {
  constexpr std::uint32_t kUsual = 2;
  const Signs& signs = history.back().signs;
  const bool can_be_seen =
      signs.file_touched || signs.line_matched ||
      std::any_of(history.begin(), history.end(), [](const PastAttempt& attempt) { return attempt.signs.some_joined; });
  return options.most_without_progress.value_or(can_be_seen ? kUsual : 0);
}

std::string give_up_words(const RestartOptions& options, const PastAttempt& last, std::size_t attempts) {
  std::string out = "gave up after " + std::to_string(attempts) + (attempts == 1 ? " attempt" : " attempts in a row");
  if (last.status) out += " (status " + std::to_string(exit_code_of(*last.status)) + ")";
  if (!options.window) out += " of " + std::to_string(std::uint64_t{options.max} + 1) + " allowed";
  return out + ": " + missing_signs(last.signs, attempts) + "; --max-fruitless 0 keeps trying";
}

std::string attempts_without_progress(const RestartOptions& options, std::span<const PastAttempt> history) {
  const std::uint32_t most = most_without_progress(options, history);
  if (most == 0 || is_for_a_rule(options, history.back())) return "";
  std::size_t without_progress = 0;
  std::set<std::optional<HostId>> roots;
  for (auto attempt = history.rbegin(); attempt != history.rend(); ++attempt) {
    const Progress progress = progress_of(*attempt);
    if (progress == Progress::Made) break;
    if (progress == Progress::Unknown) continue;
    ++without_progress;
    roots.insert(attempt->root);
  }
  if (without_progress < most) return "";
  // Failures of one host may be its fault, not that of the program.
  if (options.exclude.after > 0 && roots.size() == 1 && *roots.begin()) return "";
  return give_up_words(options, history.back(), without_progress);
}

Duration delay_after(const RestartDelay& delay, std::span<const PastAttempt> history) {
  std::size_t quick = 0;  // attempts in a row, including the last
  for (auto attempt = history.rbegin(); attempt != history.rend(); ++attempt) {
    if (attempt->ended - attempt->started >= PastAttempt::kHealthy) break;
    if (!attempt->is_no_restart) ++quick;
  }
  if (quick < 2) return std::min(delay.first, delay.most);
  Duration out = delay.first > Duration::zero() ? delay.first * 2 : kSecondDelay;
  for (std::size_t more = 2; more < quick && out < delay.most; ++more) out *= 2;
  return std::min(out, delay.most);
}

}  // namespace

PastAttempt past_attempt(const report::AttemptFacts& facts, const report::JobOutcome& verdict, TimePoint ended) {
  PastAttempt out{.started = facts.started, .ended = ended, .cause = verdict.by};
  if (verdict.root_cause != nullptr) out.status = verdict.root_cause->status;
  out.left_behind = !facts.left_behind.empty();
  const bool stalled = verdict.by == FailureCause::Stalled && facts.stalled;
  // Takes precedence over earlier failures: a user who stops a job, or lets its time limit end it, wants no other
  // attempt.
  const bool stopped = facts.stop_signal || facts.timed_out;
  out.is_last = stopped || (stalled && facts.stalled->what.then == report::NoProgress::Then::JobEnds);
  constexpr int kOfTheHost = 125;
  out.would_recur = verdict.by == FailureCause::Host && verdict.exit_code != kOfTheHost;
  return out;
}

Progress progress_of(const PastAttempt& attempt) {
  const Signs& signs = attempt.signs;
  const bool asked = signs.file_touched || signs.line_matched;
  const bool lasted = attempt.ended - attempt.started >= PastAttempt::kHealthy;
  if (signs.file_touched.value_or(false) || signs.line_matched.value_or(false)) return Progress::Made;
  if (!asked && (signs.all_joined || lasted)) return Progress::Made;
  const bool says_nothing = attempt.cause == FailureCause::Host || attempt.cause == FailureCause::Regroup;
  return says_nothing ? Progress::Unknown : Progress::None;
}

Decision decide(const RestartOptions& options, std::span<const PastAttempt> history, double chance) {
  const PastAttempt& last = history.back();
  const bool asked_for = last.cause == FailureCause::User || last.cause == FailureCause::TimeLimit || last.is_last;
  if (options.max == 0 || last.cause == FailureCause::Success || asked_for) return EndJob{};
  if (last.is_no_restart && permanent_reason(last).empty()) return TryAgain{};
  for (const std::string& why :
       {permanent_reason(last), rule_that_holds(options, history), budget_that_is_spent(options, history)}) {
    if (!why.empty()) return EndJob{why};
  }
  const bool by_host = last.cause == FailureCause::Host;
  const std::string without_progress = by_host ? "" : attempts_without_progress(options, history);
  if (!without_progress.empty()) return EndJob{without_progress};
  const auto delay = std::chrono::duration<double>(delay_after(options.delay, history)) * (0.9 + 0.2 * chance);
  return TryAgain{std::chrono::duration_cast<Duration>(delay)};
}

}  // namespace sml::run
