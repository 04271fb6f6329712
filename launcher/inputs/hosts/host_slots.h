// The slots of hosts whose source names none.
#pragma once
#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/rank_layout.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Whether -np alone gives the number of slots: this machine then has as many as there are workers.
bool np_says_slots(const Options& options, const plan::RankLayout& layout, const plan::HostList& list,
                   const ThisHost& here);

// `why`, for which the ranks could not be placed on this machine, or what is behind it: a program without -np. With all
// of them this machine has as many slots as there are workers.
Error with_missing_count(Error why, const Options& options, const plan::RankLayout& layout, const plan::HostList& list);

// Gives each host of `list` without a number of slots the number that the options ask for, or what this machine has:
// accelerators, else processors. Error (Usage): GPUs are asked for, and there are none.
Result<void> fill_slots(plan::HostList& list, const Options& options, const plan::RankLayout& layout,
                        const ThisHost& here);

}  // namespace sml
