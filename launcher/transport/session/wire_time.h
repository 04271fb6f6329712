// Durations as messages hold them.
#pragma once
#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"

namespace sml::transport {

// Whole milliseconds, clamped to the range of the type.
inline std::uint32_t milliseconds(Duration d) {
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, UINT32_MAX));
}

inline std::uint64_t nanoseconds(Duration d) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
}

}  // namespace sml::transport
