#include "common/supervise/agent_clock.h"

namespace sml::supervise {

void AgentClock::heard(Reading reading, TimePoint now) {
  if (!short_) offset_ = now.time_since_epoch() - reading;
}

void AgentClock::answered(TimePoint asked, Reading reading, TimePoint now) {
  const Duration took = now - asked;
  if (took < Duration::zero()) return;
  if (short_ && took > *short_) {
    *short_ *= 2;
    return;
  }
  short_ = took;
  offset_ = asked.time_since_epoch() + took / 2 - reading;
}

}  // namespace sml::supervise
