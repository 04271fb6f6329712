// The streams that a worker writes and the launcher gets.
#pragma once
#include <cstdint>

namespace sml {

// Results: bytes for the caller of sml-run (--results), which are no output: nobody prints, logs or counts them.
enum class Stream : std::uint8_t { Stdout = 1, Stderr = 2, Results = 3 };

}  // namespace sml
