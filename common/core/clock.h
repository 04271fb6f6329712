// Time as the whole program uses it: one monotonic clock, injected as values into everything that decides.
#pragma once
#include <chrono>

namespace sml {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC: never steps, the same for all processes of a machine
using TimePoint = Clock::time_point;
using Duration = Clock::duration;

inline double in_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace sml
