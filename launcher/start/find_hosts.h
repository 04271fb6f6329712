// Finds the hosts that a discovery script lists, before the job is planned.
#pragma once
#include <optional>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "launcher/options/options.h"

namespace sml {

// Completes the options of the discovery of hosts with the values of others, such as --nproc-per-node; then runs the
// script until it lists enough hosts, and returns these. nullopt: the options name no script, or only ask for an
// explanation.
Result<std::optional<std::vector<plan::Host>>> discover_hosts(Options& options);

}  // namespace sml
