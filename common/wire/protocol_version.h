// The version of the protocol between launcher and agent.
#pragma once
#include <cstdint>

namespace sml::wire {

// Counts up with each change to a message or to the lists in messages.h.
inline constexpr std::uint32_t kProtocolVersion = 29;

}  // namespace sml::wire
