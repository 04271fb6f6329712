// Options that mean nothing without another, as the table says.
#pragma once
#include <span>
#include <vector>

#include "common/core/error.h"
#include "launcher/options/option_layers.h"

namespace sml {

// Those that lack another are left out, but for those of the command line: what stands elsewhere is there for the runs
// that need it.
std::vector<Occurrence> without_idle(std::span<const Occurrence> given);

// Error (Usage): an option lacks another.
Result<void> check_needs(std::span<const Occurrence> given);

}  // namespace sml
