// The slots of hosts whose source names none.
#pragma once
#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/rank_layout.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Whether this machine, as the only host, has as many slots as -np asks for workers, since no option gives a number of
// slots.
bool np_says_slots(const Options& options, const plan::RankLayout& layout, const plan::HostList& list,
                   const ThisHost& here);

// Replaces the error `why`, for which the ranks could not be placed on this machine, if its reason is that one of
// several programs has no -np: then returns an error (Usage) about that. Otherwise returns `why`.
Error with_missing_count(Error why, const Options& options, const plan::RankLayout& layout, const plan::HostList& list);

// Gives each host of `list` without a number of slots the number that the options ask for, or what is counted on this
// machine by SlotsRule. A number from the user also replaces numbers that are only the hosts' capacities, and with
// SlotsHold::OnEveryHost all. Error (Usage): GPUs are asked for, and there are none.
Result<void> fill_slots(plan::HostList& list, const Options& options, const plan::RankLayout& layout,
                        const ThisHost& here);

}  // namespace sml
