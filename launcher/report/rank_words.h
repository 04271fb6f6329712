// Ranks and their hosts in words, for messages. Pure.
#pragma once
#include <string>

#include "common/core/rank_set.h"
#include "common/plan/ranks/job_map.h"

namespace sml::report {

// "rank 3 on algo-2", "ranks 0,8-15 on algo-[1-2]". `ranks` has at least one rank of the job.
std::string ranks_in_words(const RankSet& ranks, const plan::JobMap& map);

}  // namespace sml::report
