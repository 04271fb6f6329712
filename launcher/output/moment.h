// The time at which something was written: by the monotonic clock for decisions, and by the wall clock for people.
#pragma once
#include <chrono>
#include <string>

#include "common/core/clock.h"

namespace sml::output {

using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

struct Moment {
  TimePoint now;     // of the call
  WallTime read_at;  // when the worker's host read the bytes
};

// "2026-11-21T15:04:05.678Z"
std::string iso_time(WallTime time);

}  // namespace sml::output
