#include "launcher/run/restarts.h"

#include <algorithm>

#include "common/core/text.h"

namespace sml::run {

report::AttemptRecord record_of(std::uint32_t number, const plan::JobMap& map, const attempt::AttemptOutcome& outcome,
                                const report::Verdict& verdict, TimePoint now) {
  report::AttemptRecord out{.number = number,
                            .started_unix = outcome.started_unix,
                            .lasted = now - outcome.facts.started,
                            .exit_code = verdict.exit_code,
                            .words = report::in_words(verdict),
                            .culprit = {},
                            .culprit_host = {},
                            .world_size = map.world_size(),
                            .hosts = {}};
  for (const plan::MappedHost& host : map.hosts) {
    if (!host.ranks.empty()) out.hosts.push_back(host.host.name);
  }
  if (verdict.culprit != nullptr) {
    out.culprit = verdict.culprit->rank;
    out.culprit_host = verdict.culprit->host;
  }
  return out;
}

Decision Restarts::ended(std::uint32_t number, const plan::JobMap& map, const attempt::AttemptOutcome& outcome,
                         const report::Verdict& verdict, const Around& around, TimePoint now) {
  PastAttempt& last = history_.emplace_back(past_attempt(outcome.facts, verdict, now));
  if (verdict.culprit != nullptr) last.root = map.hosts[map.ranks[verdict.culprit->rank.value()].host.value()].id;
  last.host_is_out = around.hosts_lost;
  last.no_hosts = around.why_no_hosts;
  last.signs = {outcome.all_joined, around.file_touched, around.line_matched};
  const double chance = std::uniform_real_distribution<double>()(random_);
  Decision decision = decide(options_, history_, chance);
  if (!std::holds_alternative<TryAgain>(decision)) return decision;
  if (earlier_.size() == kRemembered) earlier_.erase(earlier_.begin());
  earlier_.push_back(record_of(number, map, outcome, verdict, now));
  return decision;
}

std::string Restarts::announcement(const TryAgain& again) const {
  constexpr Duration kUnseen = std::chrono::milliseconds(50);
  const report::AttemptRecord& last = earlier_.back();
  const auto delay = std::chrono::round<std::chrono::milliseconds>(again.delay);
  return "attempt " + std::to_string(last.number) + " failed with status " + std::to_string(last.exit_code) +
         "; restart " + std::to_string(last.number) + (options_.window ? "" : " of " + std::to_string(options_.max)) +
         (delay < kUnseen ? " now" : " in " + format_duration(delay));
}

}  // namespace sml::run
