// Hosts that a script lists before the job is planned.
#pragma once
#include <optional>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "launcher/options/options.h"

namespace sml {

// Applies other options to the discovery of hosts. Returns nullopt if no script lists the hosts.
Result<std::optional<std::vector<plan::Host>>> discover_hosts(Options& options);

}  // namespace sml
