// Decides when to print lines about a wait that has not ended: the first after 5 s, the next ones after gaps of 10 s,
// 30 s, and then 60 s each. Pure.
#pragma once
#include <chrono>
#include <cstddef>

#include "common/core/clock.h"

namespace sml {

class NoticePace {
 public:
  // `begin`: when the wait began.
  explicit NoticePace(TimePoint begin) : begin_(begin), due_(begin + kGaps[0]) {}

  // The time at which the next line must be printed.
  TimePoint due() const { return due_; }
  // The wait so far.
  Duration waited(TimePoint now) const { return now - begin_; }
  // Call when a line was printed: makes the next one due after a longer gap.
  void printed(TimePoint now) {
    if (gap_ + 1 < std::size(kGaps)) ++gap_;
    due_ = now + kGaps[gap_];
  }

 private:
  static constexpr Duration kGaps[] = {std::chrono::seconds(5), std::chrono::seconds(10), std::chrono::seconds(30),
                                       std::chrono::seconds(60)};
  TimePoint begin_;
  TimePoint due_;
  std::size_t gap_ = 0;
};

}  // namespace sml
