// Time in which workers can print: it stands still while we do (stopped by Ctrl-Z, not scheduled), and while nobody
// takes their output. Pure.
#pragma once
#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"

namespace sml::report {

enum class OutputFlow : std::uint8_t { Open, Held };

class WorkClock {
 public:
  // `longest_step`: when advance() comes later than that, we stood still.
  explicit WorkClock(Duration longest_step) : longest_step_(longest_step) {}

  // To be called at least every `longest_step`. Answers the time.
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
