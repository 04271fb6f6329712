// Decides which hosts take over the ranks of lost hosts in a further attempt, and makes its plan. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/launch_plan.h"
#include "common/plan/ranks/job_map.h"

namespace sml::plan {

// The smallest size to which a job may shrink; if neither is set, the job keeps its size.
struct LeastSize {
  std::optional<std::uint32_t> hosts;  // counts hosts with ranks
  std::optional<std::uint32_t> ranks;

  bool may_shrink() const { return hosts || ranks; }
};

// Returns the map for the next attempt in which the hosts `out` are not used. Each of these that has ranks is replaced
// by a spare with enough slots, which takes its place in the map, its ranks and all their numbers; the other hosts keep
// theirs. If there are too few spares and `least` permits it, the job shrinks: the remaining ranks keep their order and
// are renumbered without gaps. Hosts that are out keep their ids, and stay in the map without ranks.
// Error (Lost): there is no such map; the message is the reason, as a part of a sentence for people.
Result<JobMap> regroup(JobMap map, std::span<const HostId> out, const LeastSize& least);

// Returns the same hosts in this order, each with as many ranks as before; if the order is new, the ranks are
// renumbered accordingly. Error (Config) if `order` does not contain each host exactly once.
Result<JobMap> arrange(JobMap map, std::span<const HostId> order);

// Recomputes group ranks and cross ranks from the order of the hosts, in a job of one program. Local ranks and local
// sizes stay as they are.
void number_densely(JobMap& map);

// Makes each host of `map` a spare again that is out there but not in `out`.
void let_back(JobMap& map, std::span<const HostId> out);

// Gives `next`, a new map made after hosts of `before` turned out to be one machine, the host ids of `before`. A new
// host gets the next free id; hosts that are no longer in `next` are appended as out.
JobMap take_over_ids(JobMap next, const JobMap& before);

// Describes the changes that regroup() and grow() made from `before` to `after`, in messages for people; empty if all
// ranks are where they were.
std::vector<std::string> changes(const JobMap& before, const JobMap& after);

// Returns the plan of an attempt: `plan` with this map, and with these values of JobIdentity.
LaunchPlan for_attempt(LaunchPlan plan, JobMap map, std::uint32_t attempt, std::uint32_t restarts,
                       const std::string& job_id);

}  // namespace sml::plan
