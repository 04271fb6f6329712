#include "launcher/run/restarts/restarts.h"

#include <algorithm>
#include <random>
#include <utility>

#include "common/core/text.h"

namespace sml::run {

report::AttemptRecord record_of(std::uint32_t number, const plan::JobMap& map, const attempt::AttemptOutcome& outcome,
                                const report::JobOutcome& verdict, TimePoint now) {
  report::AttemptRecord out{.number = number,
                            .started_unix = outcome.started_unix,
                            .lasted = now - outcome.facts.started,
                            .exit_code = verdict.exit_code,
                            .words = report::in_words(verdict),
                            .root_cause = {},
                            .root_cause_host = {},
                            .world_size = map.world_size(),
                            .hosts = {}};
  for (const plan::MappedHost& host : map.hosts) {
    if (!host.ranks.empty()) out.hosts.push_back(host.host.name);
  }
  if (verdict.root_cause != nullptr) {
    out.root_cause = verdict.root_cause->rank;
    out.root_cause_host = verdict.root_cause->host;
    out.failure = *verdict.root_cause;
  }
  return out;
}

Decision Restarts::ended(std::uint32_t number, const plan::JobMap& map, const attempt::AttemptOutcome& outcome,
                         const report::JobOutcome& verdict, const Deps& deps, TimePoint now) {
  PastAttempt& last = history_.emplace_back(past_attempt(outcome.facts, verdict, now));
  if (verdict.root_cause != nullptr) last.root = map.hosts[map.ranks[verdict.root_cause->rank.value()].host.value()].id;
  last.resets = outcome.resets;
  used_ += outcome.resets;
  const bool lost_some = deps.hosts_lost > std::exchange(hosts_lost_, deps.hosts_lost);
  last.host_is_out = deps.hosts_lost > 0;
  const bool lost_before = last.cause == report::FailureCause::Host && outcome.started_unix == 0 && lost_some;
  last.is_no_restart = lost_before || last.cause == report::FailureCause::Regroup;
  last.no_hosts = deps.why_no_hosts;
  last.signs = {outcome.all_joined, outcome.some_joined, deps.file_touched, deps.line_matched};
  // For jobs not to come back all at once, the nanosecond in which this one has ended is as good as a random number.
  std::minstd_rand random(static_cast<std::minstd_rand::result_type>(now.time_since_epoch().count()));
  const double chance = std::uniform_real_distribution<double>()(random);
  Decision decision = decide(options_, history_, chance);
  if (!std::holds_alternative<TryAgain>(decision)) return decision;
  if (!last.is_no_restart) ++used_;
  if (earlier_.size() == kRemembered) earlier_.erase(earlier_.begin());
  earlier_.push_back(record_of(number, map, outcome, verdict, now));
  return decision;
}

std::string Restarts::announcement(const TryAgain& again) const {
  constexpr Duration kUnseen = std::chrono::milliseconds(50);
  const report::AttemptRecord& last = earlier_.back();
  const auto delay = std::chrono::round<std::chrono::milliseconds>(again.delay);
  if (history_.back().cause == report::FailureCause::Regroup) {
    return "attempt " + std::to_string(last.number) + " has ended for that; the next follows, and is no restart";
  }
  if (history_.back().is_no_restart) {
    return "attempt " + std::to_string(last.number) +
           " has not started its workers; the next follows, and is no restart";
  }
  return "attempt " + std::to_string(last.number) + " failed with status " + std::to_string(last.exit_code) +
         "; restart " + std::to_string(used_) + (options_.window ? "" : " of " + std::to_string(options_.max)) +
         (delay < kUnseen ? " now" : " in " + format_duration(delay));
}

}  // namespace sml::run
