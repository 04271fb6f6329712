// Decides to which processors ranks are bound, as far as the options and this machine determine it. Pure, but for
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

// Converts ranks per part of a host (socket, NUMA node, ...) to ranks per host, in layout.per_host; assumes that all
// hosts are like this machine. Changes nothing if the options give no ranks per part. Error (Usage): this machine's
// processors cannot be read.
Result<void> count_by_parts(plan::RankLayout& layout, const Options& options, const ThisHost& here);

// --map-by slot:PE=N binds to N of the counted units: hardware threads with --use-hwthread-cpus. Error (Usage):
// --cpu-set is given, too, which names cores.
Result<void> count_hwthreads(plan::BindingRequest& request, const Options& options);

// Binds as Open MPI 4.1 does (rmaps_base_map_job.c): it maps and binds by core for up to two workers and by NUMA node
// for more, if possible, and binds no worker if a host has more workers than slots. Changes nothing unless
// options.bind_rule is OpenMpi, or if there is a rankfile.
void bind_as_open_mpi(plan::BindingRequest& request, const Options& options, const plan::JobMap& map);

// Gives each rank its list of processors, by its local rank; with fewer lists than local ranks, the lists repeat.
// Changes nothing if there are no lists, or if a rankfile has named the processors.
void bind_by_lists(plan::JobMap& map, const std::vector<std::string>& lists);

}  // namespace sml
