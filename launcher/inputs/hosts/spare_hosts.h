// The spare hosts of a plan, hosts that change while it runs, and the smallest and largest size of the job.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/options/options.h"

namespace sml {

// Removes the last hosts of the list and returns them: they wait as spare hosts.
Result<std::vector<plan::Host>> take_spares(plan::HostList& list, const RestartOptions& restart);
// Adds the spare hosts behind the others, and numbers all hosts.
void add_spares(plan::JobMap& map, std::vector<plan::Host> spares, const DiscoveryOptions& discovery);

// Error (Usage): an option that selects hosts cannot be combined with hosts that change.
Result<void> check_discovery(const Options& options);
// Error (Usage): a job must not begin smaller than the smallest size that it may shrink to.
Result<void> check_least(const plan::LeastSize& least, const plan::JobMap& map);

// The number of ranks at the start on `hosts`, whose slots are known; nullopt: one per slot.
std::optional<std::uint32_t> ranks_at_first(const Options& options, const plan::HostList& hosts);

}  // namespace sml
