// Whether a program meets its other ranks at an address that it names itself.
#pragma once
#include "common/plan/launch_plan.h"

namespace sml {

// Reads what can be read here of the programs' scripts, up to 1 MiB each; see plan::names_own_address().
bool names_own_address(const plan::LaunchPlan& plan);

}  // namespace sml
