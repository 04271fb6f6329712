// Decides the effect of one more stop signal on a job that may already be stopping. Pure.
//
// The first signal begins the stop. All others join it, as batch systems, terminals and timeout(1) send signals to
// several processes, and to one process several times: a promised grace is kept. Only an insisting sender cuts it
// short: the same sender sends the same signal again half a second or more after its first one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"

namespace sml::os {

enum class Wish : std::uint8_t {
  Begins,  // begins the stop
  Joins,   // joins a stop in progress: worth a message
  Echoes,  // the same, within half a second of another signal: no message
  Insists,
};

class StopRule {
 public:
  static constexpr Duration kInsistAfter = std::chrono::milliseconds(500);

  // `sender`: identifies each source that can insist, such as this process, a host, a command.
  [[nodiscard]] Wish heed(std::string_view sender, int signo, TimePoint now);

 private:
  struct First {
    std::string sender;
    int signo;
    TimePoint at;
  };
  std::vector<First> firsts_;
  TimePoint last_;
};

}  // namespace sml::os
