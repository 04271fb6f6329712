// --explain: lists every option, its value and the source of that.
#pragma once
#include <span>
#include <vector>

#include "launcher/options/option_layers.h"
#include "launcher/report/explain.h"

namespace sml {

// One entry for each option, in the order of the option table. Values that are secret are hidden.
std::vector<report::ExplainedValue> explained(std::span<const OptionValue> given);

}  // namespace sml
