// From options, each with its text, to the values that they set. The only place that knows CLI11.
#pragma once
#include <span>

#include "common/core/error.h"
#include "launcher/options/option_layers.h"
#include "launcher/options/options.h"

namespace sml {

// In the order in which they were given: the last value of an option wins, or all add up. Every value is checked, also
// where a later one replaces it. Errors (Usage) begin with the spelling of the option.
Result<Options> parse_options(std::span<const Occurrence> given);

}  // namespace sml
