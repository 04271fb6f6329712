// Which rank runs where. Pure: hosts and a number of processes in, ranks out.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/host.h"
#include "common/plan/rank_layout.h"

namespace sml::plan {

// What the others expect of a rank.
enum class Part : std::uint8_t {
  Worker,  // the job is over when all of these have ended
  Server,  // serves workers for as long as there are any, then it is stopped
  Helper,  // the same, and no member of the world: the frameworks neither count nor see it
};

// Where one rank runs, and its place among the others. The names are Horovod's and torch's (reference: Horovod's
// runner/common/util/hosts.py; torch.distributed.run's worker environment).
struct RankAssignment {
  Rank rank;
  HostIndex host;
  LocalRank local_rank;          // index among the ranks of its host
  std::uint32_t local_size = 0;  // ranks on its host
  std::uint32_t group_rank = 0;  // index of its host among the hosts that have ranks
  std::uint32_t cross_rank = 0;  // earlier hosts that also have this local rank
  std::uint32_t cross_size = 0;  // hosts that have this local rank
  // Of jobs of several programs (program_map.h).
  std::uint32_t program = 0;    // index of the one that it runs
  std::uint32_t role_rank = 0;  // index among the ranks of its role
  std::uint32_t role_size = 0;  // ranks of its role; 0: all ranks have one role
  Part part = Part::Worker;
  bool operator==(const RankAssignment&) const = default;
};

// What a host is there for.
enum class HostDuty : std::uint8_t {
  Work,   // it has ranks, or was left out of the layout
  Spare,  // it waits to take the place of another
  Out,    // it was lost, or is not to be used
};

struct MappedHost {
  Host host;
  std::uint32_t slots = 0;
  std::vector<Rank> ranks;  // ascending; empty when the host was left out or has no slots
  HostId id{};              // its position in the first plan of the run
  HostDuty duty = HostDuty::Work;
};

// Invariants, checked by the only functions that make one: ranks are 0..world_size-1 in order; local ranks are dense on
// each host and ascend with the ranks; of the hosts that have ranks the first has rank 0, and without several programs
// the next has the smallest rank that the first does not have, and so on; no host holds more ranks than slots unless
// oversubscription was allowed. The numbers of a RankAssignment count members only; helpers have no cross rank.
struct JobMap {
  std::vector<MappedHost> hosts;
  std::vector<RankAssignment> ranks;
  std::vector<std::string> roles{};  // by program; empty: all ranks have one that nobody has named
  std::uint32_t helpers = 0;         // the last ranks of the plan are Part::Helper
  std::vector<std::string> cores{};  // by rank, as a rankfile names them; empty: there was none
  std::uint32_t spawned = 0;         // behind those, the last of all: worlds of their own (spawn_map.h)
  std::uint32_t members() const { return world_size() - helpers - spawned; }  // the world that frameworks see
  std::uint32_t world_size() const { return static_cast<std::uint32_t>(ranks.size()); }
  std::uint32_t group_world_size() const;  // number of hosts that have ranks
  std::uint32_t member_hosts() const;      // number of hosts that have members
  std::size_t spares() const;              // number of hosts that wait
  std::vector<HostIndex> places() const;   // of the hosts, by HostId
};

// Each host of a first plan gets the id that it keeps.
void number_hosts(JobMap& map);

// Gives each rank its place: `hosts_of` tells by rank where it runs. No host has ranks yet.
void assign_ranks(JobMap& map, const std::vector<HostIndex>& hosts_of);

// Every host must have its slots filled in. Without `np` all slots are used, or `per_host` on each host. With
// Oversubscribe::Yes the ranks beyond the slots are dealt evenly: every host gets one more in turn. A rankfile decides
// alone; `np` may leave its last ranks out.
// Errors: kind Usage: no hosts, no slots at all, np = 0, np above the slots (both numbers named), more than
// kMaxWorldSize ranks; kind Config: the rankfile does not fit the hosts (its line is named).
Result<JobMap> map_job(const HostList& hosts, std::optional<std::uint32_t> np, const RankLayout& layout);

// Host after host.
inline Result<JobMap> map_job(const HostList& hosts, std::optional<std::uint32_t> np, Oversubscribe oversubscribe) {
  RankLayout layout;
  layout.oversubscribe = oversubscribe;
  return map_job(hosts, np, layout);
}

// Where the rankfile's hosts are in `hosts`, by rank. Errors (kind Config) name the line.
Result<std::vector<HostIndex>> hosts_of_ranks(const Rankfile& file, const std::vector<Host>& hosts);

// Whether each of `hosts` has the slots for its ranks; `hosts_of` has the host of each rank of the file that is used.
// Errors (kind Config) name the line of the first rank that is too many.
Result<void> check_slots(const Rankfile& file, std::span<const HostIndex> hosts_of, std::span<const MappedHost> hosts);

}  // namespace sml::plan
