#include "launcher/fleet/agent_clock.h"

#include <algorithm>

namespace sml::fleet {

namespace {

// Limited, so that the sum of two readings cannot overflow.
constexpr AgentClock::Reading kMost = std::chrono::hours(24 * 365 * 100);

bool plausible(AgentClock::Reading reading) { return reading >= AgentClock::Reading::zero() && reading <= kMost; }

}  // namespace

TimePoint AgentClock::ours(Reading reading) const {
  return TimePoint(std::clamp(reading, Reading::zero(), kMost) + offset_);
}

void AgentClock::add(Reading reading, TimePoint now) {
  if (!short_ && plausible(reading)) offset_ = now.time_since_epoch() - reading;
}

void AgentClock::answered(TimePoint asked, Reading reading, TimePoint now) {
  if (asked > now || !plausible(asked.time_since_epoch()) || !plausible(reading)) return;
  const Duration took = now - asked;
  if (short_ && took > *short_) {
    *short_ *= 2;
    return;
  }
  short_ = took;
  offset_ = asked.time_since_epoch() + took / 2 - reading;
}

}  // namespace sml::fleet
