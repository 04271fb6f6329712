// The shares in a job whose hosts call: the number of workers and the role that each host has chosen for itself. Pure.
#pragma once
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/program_map.h"
#include "launcher/plan/host_share.h"

namespace sml {

// Gives each host of `list` the slots of its share; `shares` is in the order of the list. Changes nothing if `shares`
// is empty: the hosts have not chosen for themselves. Error (Config): not one share for each host, or a number of slots
// that a host cannot have.
Result<void> take_shares(plan::HostList& list, const plan::HostShares& shares);

// Whether the hosts have chosen more than one role.
bool roles_differ(const plan::HostShares& shares);

// For a job whose roles differ: one program for each host, with that host alone and in its role. The hosts must have
// their slots.
std::vector<plan::ProgramShare> programs_by_host(const plan::HostList& list, const plan::HostShares& shares);

}  // namespace sml
