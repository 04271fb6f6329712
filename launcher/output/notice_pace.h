// The pace of lines about a wait that goes on: the first after 5 s, then with gaps of 10, 30 and 60 s. Pure.
#pragma once
#include <chrono>
#include <cstddef>

#include "common/core/clock.h"

namespace sml {

class NoticePace {
 public:
  explicit NoticePace(TimePoint begin) : begin_(begin), due_(begin + kGaps[0]) {}

  // The moment of the next line.
  TimePoint due() const { return due_; }
  // The wait so far.
  Duration waited(TimePoint now) const { return now - begin_; }
  // A line was printed; the next one is due a longer gap later.
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
