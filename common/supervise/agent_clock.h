// The monotonic clock of an agent's machine, read by ours. Pure.
#pragma once
#include <chrono>
#include <optional>

#include "common/core/clock.h"

namespace sml::supervise {

class AgentClock {
 public:
  using Reading = std::chrono::nanoseconds;  // of the agent's clock, since whatever it counts from

  // Readings come from another machine: one that no clock has (negative, or more than a hundred years) changes nothing,
  // and is told as the nearest that one could have.

  // A message came at `now` that had left when the agent's clock told `reading`: right but for its way here.
  void heard(Reading reading, TimePoint now);
  // The answer to a question: right but for half of the round trip. The shortest round trip counts; each longer one
  // doubles what is taken for short, so that clocks that drift apart are followed.
  void answered(TimePoint asked, Reading reading, TimePoint now);

  TimePoint ours(Reading reading) const;

 private:
  Duration offset_{};              // our clock less the agent's
  std::optional<Duration> short_;  // a round trip that is; empty: nothing has been answered
};

}  // namespace sml::supervise
