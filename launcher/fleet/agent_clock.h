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
  void add(Reading reading, TimePoint now);
  // A reply with `reading` arrived at `now` to a request that was sent at `asked`. Accurate up to half of the round
  // trip. Only a reply with a short round trip changes the offset. It sets the threshold for what is short, and each
  // longer round trip doubles the threshold, so that in time the offset follows clocks that drift apart.
  void answered(TimePoint asked, Reading reading, TimePoint now);

  // The time on the launcher's clock at that reading. Before the first add() or answered() the offset is 0.
  TimePoint ours(Reading reading) const;

 private:
  Duration offset_{};              // the launcher's clock minus the agent's
  std::optional<Duration> short_;  // round trips up to this count as short; nullopt: no reply yet
};

}  // namespace sml::fleet
