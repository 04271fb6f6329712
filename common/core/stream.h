// The streams that a worker writes and the launcher gets.
#pragma once
#include <cstdint>

namespace sml {

// Results: bytes for the caller of sml-run (--results). They are not output: sml-run does not print, log or count them.
enum class Stream : std::uint8_t { Stdout = 1, Stderr = 2, Results = 3 };

}  // namespace sml
