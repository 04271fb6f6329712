// Decides what one more stop signal does to a job that may be stopping already. Pure.
//
// The first begins the stop. All others join it, as batch systems, terminals and timeout(1) tell several processes, and
// one process several times: whoever has been promised a grace has it. Only who insists cuts it short: the same sender,
// with the same signal, half a second after his first or later.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"

namespace sml::supervise {

enum class Wish : std::uint8_t {
  Begins,  // the stop
  Joins,   // one that is under way: news for people
  Echoes,  // ... within half a second: no news
  Insists,
};

class StopRule {
 public:
  static constexpr Duration kInsistAfter = std::chrono::milliseconds(500);

  // `sender`: a name for each who can insist, such as this process, a host, a command.
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

}  // namespace sml::supervise
