// Options that have no effect without another one, as OptionRow::needs declares.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "launcher/options/option_layers.h"

namespace sml {

// Leaves out options whose needed option is missing, unless they are on the command line under sml-run's own name:
// variables and files may contain options for runs that need them, and other launchers accept theirs without it.
std::vector<OptionValue> without_idle(std::span<const OptionValue> given);

// The options of other launchers, as written on the command line, that without_idle() leaves out.
std::vector<std::string> idle_translations(std::span<const OptionValue> given);

// Error (Usage): an option is given without the one that it needs.
Result<void> check_needs(std::span<const OptionValue> given);

}  // namespace sml
