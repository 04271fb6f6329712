// Measures the time in which workers can print: this clock stops while the launcher does not run (stopped by Ctrl-Z,
// not scheduled), and while the launcher does not take the workers' output. Pure.
#pragma once
#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"

namespace sml::report {

enum class OutputFlow : std::uint8_t { Open, Held };  // Held: the workers' output is not read

class WorkClock {
 public:
  // If a call of advance() comes more than `longest_step` after the one before it, the launcher was not running in
  // between: only `longest_step` of that time counts.
  explicit WorkClock(Duration longest_step) : longest_step_(longest_step) {}

  // To be called at least every `longest_step`. Returns the time on this clock, which begins at TimePoint().
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
