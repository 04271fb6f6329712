// What a platform that runs containers leaves us of time.
#pragma once
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "launcher/inputs/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// The containers of one job start minutes apart.
inline constexpr Duration kContainersStart = std::chrono::minutes(15);

// Where a platform starts us on every host of its job: sets options.start_timeout, where it is not given, so that they
// come together.
void choose_start_timeout(Options& options, HostFinder& finder);

// How long workers may take to end when the job is stopped. In containers, where the platform kills what has not ended
// some time after TERM: SageMaker after 120 s, AWS Batch and Kubernetes after 30 s. Sets options.stop_grace, where it
// is not given, to what leaves us time to end in order; takes back what is longer, and answers a warning then.
// Elsewhere changes nothing.
std::vector<std::string> choose_stop_grace(Options& options, const ThisHost& here, HostFinder& finder);

}  // namespace sml
