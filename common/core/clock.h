// Time as used by the whole program: one monotonic clock, whose values are passed to all code that decides.
#pragma once
#include <chrono>

namespace sml {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC: never steps, the same for all processes of a machine
using TimePoint = Clock::time_point;
using Duration = Clock::duration;

inline double in_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

// The seconds since 1970 by the wall clock, for records only: it may step.
inline double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace sml
