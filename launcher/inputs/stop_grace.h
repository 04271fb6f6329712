// Chooses how long a job may take to start and to stop where a container platform sets limits to both.
#pragma once
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// The start timeout on such platforms, as the containers of one job may start minutes apart.
inline constexpr Duration kContainersStart = std::chrono::minutes(15);

// Changes options for platforms that start sml-run on every host of a job, or that give the hosts' names before the
// hosts are up. Sets options.start_timeout, unless it is given, to kContainersStart. In the second case sml-run also
// waits for absent hosts; if options.ssh.absent_hosts is given, with any value, that case changes nothing.
void choose_start_timeout(Options& options, HostFinder& finder);

// Sets options.stop_grace, the time that workers get to end when the job is stopped. Applies to containers, to which
// the platform sends SIGKILL some time after SIGTERM: SageMaker after 120 s, AWS Batch and Kubernetes after 30 s.
// Chooses a time that lets sml-run end in order, unless the option is given. Reduces a longer value and returns a
// warning then, except for Kubernetes, where a pod may have another limit. Changes nothing elsewhere.
std::vector<std::string> choose_stop_grace(Options& options, const ThisHost& here, HostFinder& finder);

}  // namespace sml
