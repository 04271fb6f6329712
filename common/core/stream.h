// The two output streams of a worker.
#pragma once
#include <cstdint>

namespace sml {

enum class Stream : std::uint8_t { Stdout = 1, Stderr = 2 };

}  // namespace sml
