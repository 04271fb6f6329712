// Whether a program's ranks rendezvous at an address that the program itself names.
#pragma once
#include "common/plan/launch_plan.h"

namespace sml {

// Reads those of the programs' scripts that are readable here, up to 1 MiB each; see plan::names_own_address().
bool names_own_address(const plan::LaunchPlan& plan);

}  // namespace sml
