// Whether the scratch folder of an agent (agent::ScratchFolder) is removed at the agent's end. Kept (--debug keep) is
// for developers of sml-run: neither the agent nor its guardian nor any later agent removes the folder. The agent still
// empties it before each further attempt.
#pragma once
#include <cstdint>

namespace sml {

enum class ScratchRule : std::uint8_t { Removed, Kept };

}  // namespace sml
