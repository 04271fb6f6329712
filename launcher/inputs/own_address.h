// Whether the ranks of a program find each other at an address that the program itself names.
#pragma once
#include "common/plan/launch_plan.h"

namespace sml {

// Looks at the scripts of the plan's programs that are readable on this machine, up to 1 MiB of each; see
// plan::names_own_address().
bool names_own_address(const plan::LaunchPlan& plan);

}  // namespace sml
