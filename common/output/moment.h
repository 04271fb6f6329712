// When something was written: by the clock that decides, and by the one that people read.
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
