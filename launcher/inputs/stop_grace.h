// The time that a container platform leaves sml-run for the start and the stop of a job.
#pragma once
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// The containers of one job start minutes apart.
inline constexpr Duration kContainersStart = std::chrono::minutes(15);

// If a platform starts sml-run on every host of its job, or gives their names before they are up: sets
// options.start_timeout, unless it is given, to a value that lets all of them start. In the second case absent hosts
// are awaited, unless options.ssh.absent_hosts says otherwise.
void choose_start_timeout(Options& options, HostFinder& finder);

// How long workers may take to end when the job is stopped. Applies to containers, where the platform sends KILL some
// time after TERM: SageMaker after 120 s, AWS Batch and Kubernetes after 30 s. Sets options.stop_grace, unless it is
// given, so that sml-run has time to end in order; reduces a longer value, and returns a warning then. Changes nothing
// elsewhere.
std::vector<std::string> choose_stop_grace(Options& options, const ThisHost& here, HostFinder& finder);

}  // namespace sml
