// Finds the hosts that a discovery script lists, before the job is planned.
#pragma once
#include <optional>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "launcher/options/options.h"

namespace sml {

// Checks the options of the discovery of hosts, and completes them with the values of others, such as --nproc-per-node;
// if hosts may change, also sets the usual tag of lines, as one rank may become several. Then runs the script until it
// lists enough hosts, which blocks, and returns these. nullopt: the options name no script, or only ask for an
// explanation.
Result<std::optional<std::vector<plan::Host>>> discover_hosts(Options& options);

}  // namespace sml
