// Converts readings of the monotonic clock of an agent's machine to the launcher's clock. Pure.
#pragma once
#include <chrono>
#include <optional>

#include "common/core/clock.h"

namespace sml::fleet {

class AgentClock {
 public:
  using Reading = std::chrono::nanoseconds;  // of the agent's clock, counted from an arbitrary point

  // Readings come from another machine: an implausible one (negative, or more than a hundred years) does not change the
  // offset, and ours() clamps it to the plausible range.

  // A message arrived at `now` that was sent when the agent's clock showed `reading`. Accurate up to the time of
  // transmission; ignored after the first answered().
  void heard(Reading reading, TimePoint now);
  // A reply with `reading` arrived at `now` to a request that was sent at `asked`. Accurate up to half of the round
  // trip. The shortest round trip is used; each longer one doubles the threshold, so that clocks that drift apart are
  // followed.
  void answered(TimePoint asked, Reading reading, TimePoint now);

  TimePoint ours(Reading reading) const;

 private:
  Duration offset_{};              // the launcher's clock minus the agent's
  std::optional<Duration> short_;  // round trips up to this count as short; empty: no reply yet
};

}  // namespace sml::fleet
