// The shares that the hosts of a job have each chosen, as part of its plan. Pure.
#pragma once
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/program_map.h"
#include "launcher/plan/host_share.h"

namespace sml {

// The slots of each host; nothing happens where none has said any. Error (Config): they are not those of these hosts,
// or more than a host can have.
Result<void> take_shares(plan::HostList& list, const plan::HostShares& shares);

bool roles_differ(const plan::HostShares& shares);

// Where they do, of hosts with their slots: the program as often as there are hosts, each time in the role of that
// host.
std::vector<plan::ProgramShare> programs_by_host(const plan::HostList& list, const plan::HostShares& shares);

}  // namespace sml
