// --explain: every option, its value and who gave it.
#pragma once
#include <span>
#include <vector>

#include "launcher/options/option_layers.h"
#include "launcher/report/explain.h"

namespace sml {

// In the order of the table. What is a secret is hidden.
std::vector<report::ExplainedValue> explained(std::span<const Occurrence> given);

}  // namespace sml
