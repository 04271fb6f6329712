// Measures the time in which workers can print: the clock stops while the launcher does not run (stopped by Ctrl-Z, not
// scheduled), and while the workers' output is not read. Pure.
#pragma once
#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"

namespace sml::report {

enum class OutputFlow : std::uint8_t { Open, Held };

class WorkClock {
 public:
  // If advance() is called later than `longest_step` after the last call, the launcher was not running.
  explicit WorkClock(Duration longest_step) : longest_step_(longest_step) {}

  // To be called at least every `longest_step`. Returns the time.
  TimePoint advance(TimePoint now, OutputFlow flow) {
    if (begun_ && flow == OutputFlow::Open) time_ += std::clamp(now - last_, Duration::zero(), longest_step_);
    begun_ = true;
    last_ = now;
    return time_;
  }

 private:
  Duration longest_step_;
  bool begun_ = false;
  TimePoint last_;
  TimePoint time_;
};

}  // namespace sml::report
