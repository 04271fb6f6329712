// Maps ranks to hosts. Pure: takes hosts and a number of processes, returns ranks.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/machine/host.h"
#include "common/plan/ranks/rank_layout.h"

namespace sml::plan {

// The role of a rank in the job's life cycle.
enum class Part : std::uint8_t {
  Worker,  // the job is over when all workers have ended
  Server,  // serves workers as long as any run, then it is stopped
  Helper,  // like Server, but no member of the world: the frameworks neither count nor see it
};

// The host of one rank, and its position among the others. The names are those of Horovod and torch (reference:
// Horovod's runner/common/util/hosts.py; torch.distributed.run's worker environment).
struct RankAssignment {
  Rank rank;
  HostIndex host;
  LocalRank local_rank;          // index among the ranks of its host
  std::uint32_t local_size = 0;  // ranks on its host
  std::uint32_t group_rank = 0;  // index of its host among the hosts that have ranks
  std::uint32_t cross_rank = 0;  // the number of earlier hosts that also have this local rank
  std::uint32_t cross_size = 0;  // the number of hosts that have this local rank
  // For jobs of several programs (program_map.h).
  std::uint32_t program = 0;    // index of the program that it runs
  std::uint32_t role_rank = 0;  // index among the ranks of its role
  std::uint32_t role_size = 0;  // ranks of its role; 0: all ranks have one role
  Part part = Part::Worker;
  bool operator==(const RankAssignment&) const = default;
};

// The purpose of a host.
enum class HostDuty : std::uint8_t {
  Work,   // has ranks, or was left out of the layout
  Spare,  // waits to take the place of another host
  Out,    // was lost, or must not be used
};

struct MappedHost {
  Host host;
  std::uint32_t slots = 0;
  std::vector<Rank> ranks;  // ascending; empty if the host was left out or has no slots
  HostId id{};              // its position in the first plan of the run
  HostDuty duty = HostDuty::Work;
};

// Invariants, established by the functions that make a JobMap: ranks are 0..world_size-1 in order; local ranks are
// dense on each host and ascend with the ranks; among the hosts that have ranks the first has rank 0, and, unless there
// are several programs, each next one has the smallest rank that none before it has; no host has more ranks than slots
// unless oversubscription was allowed. The numbers of a RankAssignment count members only; helpers have no cross rank.
struct JobMap {
  std::vector<MappedHost> hosts;
  std::vector<RankAssignment> ranks;
  std::vector<std::string> roles{};  // by program; empty: all ranks have one unnamed role
  std::uint32_t helpers = 0;         // the last ranks of the plan are Part::Helper
  std::vector<std::string> cores{};  // by rank, as named in a rankfile; empty: no rankfile
  std::uint32_t spawned = 0;         // the very last ranks, after the helpers: worlds of their own (spawn_map.h)
  std::uint32_t members() const { return world_size() - helpers - spawned; }  // of the world that frameworks see
  std::uint32_t world_size() const { return static_cast<std::uint32_t>(ranks.size()); }
  std::uint32_t group_world_size() const;  // number of hosts that have ranks
  std::uint32_t member_hosts() const;      // number of hosts that have members
  std::size_t spares() const;              // number of spare hosts
  std::vector<HostIndex> places() const;   // the index of each host, by HostId; the ids must be 0 to hosts.size() - 1
};

// Gives each host of a first plan the id that it keeps for the whole job.
void number_hosts(JobMap& map);

// Assigns all ranks: `hosts_of` holds the host of each rank. No host may have ranks yet.
void assign_ranks(JobMap& map, const std::vector<HostIndex>& hosts_of);

// Every host should have its slots filled in; a missing number counts as 1. Without `np` all slots are used, or
// `per_host` on each host. With Oversubscribe::Yes the ranks beyond the slots are dealt evenly: the hosts get one more
// each in turn. A rankfile overrides the layout, except `oversubscribe`; `np` may cut off its last ranks.
// Errors: kind Usage: no hosts, no slots at all, np = 0, np above the slots (the error names both), more than
// kMaxWorldSize ranks; kind Config: the rankfile does not fit the hosts (the error names its line).
Result<JobMap> map_job(const HostList& hosts, std::optional<std::uint32_t> np, const RankLayout& layout);

// Fills one host after the other.
inline Result<JobMap> map_job(const HostList& hosts, std::optional<std::uint32_t> np, Oversubscribe oversubscribe) {
  RankLayout layout;
  layout.oversubscribe = oversubscribe;
  return map_job(hosts, np, layout);
}

// The index in `hosts` of the host of each rank of the rankfile. Errors (kind Config) name the line.
Result<std::vector<HostIndex>> hosts_of_ranks(const Rankfile& file, const std::vector<Host>& hosts);

// Checks that each of `hosts` has enough slots for its ranks; `hosts_of` holds the host of each rank of the job, which
// are the first ranks of the file. Errors (kind Config) name the line of the first rank without a slot.
Result<void> check_slots(const Rankfile& file, std::span<const HostIndex> hosts_of, std::span<const MappedHost> hosts);

}  // namespace sml::plan
