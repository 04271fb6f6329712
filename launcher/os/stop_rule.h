// Decides the effect of one more stop signal on a job that may already be stopping. Pure.
//
// The first signal begins the stop. Further signals do not shorten the grace, as batch systems, terminals and
// timeout(1) send signals to several processes, and to one process several times. Only a sender that insists ends the
// grace: it sends the same signal again, half a second or more after its first one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"

namespace sml::os {

enum class StopEffect : std::uint8_t {
  Begins,   // begins the stop
  Joins,    // joins a stop in progress: worth a message
  Echoes,   // the same, but follows another signal within half a second: no message
  Insists,  // ends the grace
};

class StopRule {
 public:
  static constexpr Duration kInsistAfter = std::chrono::milliseconds(500);

  // Call for each stop signal. `sender` identifies its source: a process that has signalled this one, the kernel, a
  // host, a command.
  [[nodiscard]] StopEffect heed(std::string_view sender, int signo, TimePoint now);

 private:
  // The first signal of a sender with that number.
  struct First {
    std::string sender;
    int signo;
    TimePoint at;
  };
  std::vector<First> firsts_;
  TimePoint last_;  // when the last signal arrived
};

}  // namespace sml::os
