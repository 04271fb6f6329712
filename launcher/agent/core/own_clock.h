// The time format of messages: nanoseconds of this host's monotonic clock.
#pragma once
#include <chrono>
#include <cstdint>

#include "common/core/clock.h"

namespace sml::agent {

inline std::uint64_t nanoseconds(TimePoint t) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count());
}

}  // namespace sml::agent
