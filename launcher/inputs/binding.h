// Settles to which processors ranks are bound, as far as the options and this machine decide it. Pure, but for
// ThisHost::cpu_topology.
#pragma once
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/binding.h"
#include "common/plan/ranks/job_map.h"
#include "common/plan/ranks/rank_layout.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Converts ranks per part (socket, NUMA node, ...) to ranks per host; all hosts are assumed to be like this machine.
Result<void> count_by_parts(plan::RankLayout& layout, const Options& options, const ThisHost& here);

// --map-by slot:PE=N binds to N of the counted units: hardware threads with --use-hwthread-cpus.
Result<void> count_hwthreads(plan::BindingWish& wish, const Options& options);

// Open MPI 4.1 (rmaps_base_map_job.c) maps and binds by core for up to two workers and by NUMA node for more, if
// possible, and binds nothing if a host has more workers than slots. Changes nothing under other rules.
void bind_as_open_mpi(plan::BindingWish& wish, const Options& options, const plan::JobMap& map);

// Gives each rank its list of processors, by its local rank. A rankfile names them, too, and outranks the lists.
void bind_by_lists(plan::JobMap& map, const std::vector<std::string>& lists);

}  // namespace sml
