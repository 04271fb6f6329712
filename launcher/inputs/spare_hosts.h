// Hosts of a plan that wait, those that change while it runs, and how small and large the job may be.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"
#include "common/plan/job_map.h"
#include "launcher/options/options.h"

namespace sml {

// Takes the last of the list, which wait as spares.
Result<std::vector<plan::Host>> take_spares(plan::HostList& list, const RestartOptions& restart);
// Puts them after the others, and numbers all.
void add_spares(plan::JobMap& map, std::vector<plan::Host> spares, const DiscoveryOptions& discovery);

// Error (Usage): who chooses among the hosts would have to do so whenever they change.
Result<void> check_discovery(const Options& options);
// Error (Usage): a job does not begin smaller than it may become.
Result<void> check_least(const plan::LeastSize& least, const plan::JobMap& map);

// How many ranks there are at first on `hosts`, whose slots are filled in; nothing: one for each slot.
std::optional<std::uint32_t> ranks_at_first(const Options& options, const plan::HostList& hosts);

}  // namespace sml
