// Decides what starts the agents on the other hosts: --start-by.
#pragma once
#include <string>

#include "common/plan/launch_plan.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Sets LaunchPlan::start, if other hosts have to be reached. --start-by auto chooses SSH if an option or the host list
// describes a log-in, or if a host is not in the batch system's job; else the starter of the batch system, if the
// starter's program is there; else SSH, with a warning if sml-run runs in a batch job. Error (Usage): --start-by names
// a starter in whose job sml-run does not run, or any way but SSH while an option or the host list describes a log-in.
Result<void> choose_start(plan::LaunchPlan& plan, const Options& options, const ThisHost& here, HostFinder& finder);

}  // namespace sml
