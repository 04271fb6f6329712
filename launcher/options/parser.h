// Sets the values of options from their text. The only part that uses CLI11.
#pragma once
#include <span>

#include "common/core/error.h"
#include "launcher/options/option_layers.h"
#include "launcher/options/options.h"

namespace sml {

// Sets the options in the order given: the last value of an option wins, or all its values are kept, see Repeat. Checks
// every value, even if a later one replaces it. Errors (Usage) begin with the spelling of the option.
Result<Options> parse_options(std::span<const OptionValue> given);

}  // namespace sml
