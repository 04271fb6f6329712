// Starts the job that the options describe.
#pragma once
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/sagemaker/training.h"
#include "launcher/start/settle.h"

namespace sml {

// Plans the job. Then shows the plan, if the options ask only for that; or checks the hosts (--check); or does the work
// of `training` on this machine and runs the job, or this host's part of it; blocks until that has ended. Prints
// errors, and leaves them in the failure file, if there is one; returns the exit status.
int start_job(const SettledOptions& settled, const Training& training, ThisHost& here, HostFinder& finder);

}  // namespace sml
