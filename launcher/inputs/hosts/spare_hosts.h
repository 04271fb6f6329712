// The spare hosts of a plan, checks for a host list that changes while the job runs, and the job's smallest and largest
// size.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/options/options.h"

namespace sml {

// Removes the last hosts of the list, as many as --spares or --max-hosts demand, and returns them: they are the spare
// hosts. Errors (Usage): no host would be left for workers; the hosts call, and options would exchange them.
Result<std::vector<plan::Host>> take_spares(plan::HostList& list, const RestartOptions& restart);
// Adds the spare hosts after the other hosts, and numbers all. If hosts may change, hosts without ranks become spare
// hosts, too.
void add_spares(plan::JobMap& map, std::vector<plan::Host> spares, const DiscoveryOptions& discovery);

// Error (Usage): options for a host list that changes, or for the largest size, contradict others, such as those that
// select hosts.
Result<void> check_discovery(const Options& options);
// Error (Usage): the job is smaller at its start than the smallest size to which it may shrink, or has several programs
// and so cannot shrink.
Result<void> check_least(const RestartOptions& restart, const plan::JobMap& map);

// The number of ranks at the start on `hosts`, whose slots are known; nullopt: one per slot. With --max-np: all slots
// up to that number, but not fewer than --np.
std::optional<std::uint32_t> ranks_at_first(const Options& options, const plan::HostList& hosts);

}  // namespace sml
