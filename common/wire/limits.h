// What an agent holds itself to, and the launcher to it, beyond the size of a frame.
#pragma once
#include <cstddef>

namespace sml::wire {

inline constexpr std::size_t kMaxText = std::size_t{64} << 10;  // bytes of one text
inline constexpr std::size_t kMaxLeft = 256;                    // processes that a Cleared or LeftEnded names

}  // namespace sml::wire
