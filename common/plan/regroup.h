// Which host takes whose ranks in a further attempt. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/job_map.h"

namespace sml::plan {

// How small a job may become; with neither it keeps its size.
struct LeastSize {
  std::optional<std::uint32_t> hosts;  // with ranks
  std::optional<std::uint32_t> ranks;

  bool may_shrink() const { return hosts || ranks; }
};

// The map that follows `map` when the hosts `out` are not to be used: a spare that has the slots takes the place of
// each that has ranks, and so its ranks and all numbers of them; the others keep theirs. Where spares do not suffice
// and `least` allows it, the world shrinks: the ranks that are left keep their order and are numbered densely. Hosts
// that are out keep their ids and a place without ranks.
// Error (Lost): why there is none, as a clause for people.
Result<JobMap> regroup(JobMap map, std::span<const HostId> out, const LeastSize& least);

// The same hosts in that order, each with as many ranks as before, which are numbered by it if it is another. Error
// (Config): `order` does not have each of them once.
Result<JobMap> arrange(JobMap map, std::span<const HostId> order);

// Group ranks and cross ranks, by the order of the hosts. Of a job of one program; local ranks and sizes are as they
// were.
void number_densely(JobMap& map);

// Hosts of `map` that are out and not in `out` wait again, as spares.
void let_back(JobMap& map, std::span<const HostId> out);

// `next`, made when hosts of `before` had turned out to be one machine, with the ids of `before`: a host that is new
// has the next one, and those that are in it no more are behind the others and out.
JobMap take_over_ids(JobMap next, const JobMap& before);

// What regroup() and grow() have changed, in sentences for people; nothing where ranks are where they were.
std::vector<std::string> changes(const JobMap& before, const JobMap& after);

}  // namespace sml::plan
