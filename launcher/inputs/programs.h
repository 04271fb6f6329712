// The programs of a job: which ranks run each, and what its workers get.
#pragma once
#include <vector>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "common/plan/ranks/program_map.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// The share of each program in the job's ranks. Programs that a preset adds come last.
Result<std::vector<plan::ProgramShare>> shares_of(const Options& options, const plan::HostList& list,
                                                  const ThisHost& here);

// Adds all programs to the plan, in the order of their shares: command, working directory, and the variables that the
// user asked for (presets, --env-file, -x), with the plan's warnings about them.
Result<void> add_programs(plan::LaunchPlan& plan, const Options& options, const ThisHost& here,
                          const std::vector<plan::ProgramShare>& shares);

}  // namespace sml
