// Whether an agent removes its scratch folder at its end. Kept: for developers of sml-run; no later agent removes it
// either.
#pragma once
#include <cstdint>

namespace sml {

enum class ScratchRule : std::uint8_t { Removed, Kept };

}  // namespace sml
