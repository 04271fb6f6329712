// Decides what starts the agents on the other hosts: --start-by.
#pragma once
#include <string>

#include "common/plan/launch_plan.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Chooses for the hosts of the plan and sets LaunchPlan::start. auto: SSH where an option or the host list describes a
// log-in, or where a host is not in the job of the batch system; else that system's starter, if its tool is there; else
// SSH, with a warning if this is such a job. Errors (Usage): a named starter that can start nothing here.
Result<void> choose_start(plan::LaunchPlan& plan, const Options& options, const ThisHost& here, HostFinder& finder);

}  // namespace sml
