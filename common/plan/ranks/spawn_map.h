// Maps ranks that are started while a job runs, on the request of its ranks (MPI_Comm_spawn), to hosts. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/ranks/allowed_counts.h"
#include "common/plan/ranks/job_map.h"
#include "common/plan/ranks/rank_layout.h"

namespace sml::plan {

// One of the programs that a rank requests.
struct SpawnProgram {
  std::vector<std::string> command;   // program and arguments
  std::uint32_t count = 0;            // ranks of it; with `allowed`: at most
  std::string working_directory{};    // absolute, or below that of the requesting rank; empty: that one
  std::vector<std::string> hosts{};   // the only ones on which it may run, by their names in the job; empty: any
  std::string search_path{};          // see Program
  std::vector<CountRange> allowed{};  // the largest of these for which there is room is started; empty: `count` alone
  void fields(auto& a) { a(command, count, working_directory, hosts, search_path, allowed); }
  bool operator==(const SpawnProgram&) const = default;
};

// The number of unused slots of each host; nullopt: the host takes no ranks.
using FreeSlots = std::vector<std::optional<std::uint32_t>>;
struct SpawnRoom {
  FreeSlots running;  // of hosts that run ranks
  FreeSlots idle;     // of other hosts, which have to be connected first
};

// Returns the new ranks as a world of their own, counted from 0, on the hosts of `job`; RankAssignment::program is the
// index in `programs`. Hosts are filled one after the other, idle ones when the running ones are full. With
// Oversubscribe::Yes the ranks beyond the slots are dealt evenly: the hosts get one more each in turn. Programs with
// several allowed counts share what the others leave, in their order.
// Errors (Usage) have the subject "it": there are not enough free slots (with both numbers), the job would have more
// than kMaxWorldSize ranks, or the job has no host of a requested name.
Result<JobMap> map_spawn(const JobMap& job, const SpawnRoom& room, std::span<const SpawnProgram> programs,
                         Oversubscribe oversubscribe);

// Appends the ranks of `world` to those of `job`; they run the programs of `job` from `first_program` on.
void add_world(JobMap& job, const JobMap& world, std::uint32_t first_program);

}  // namespace sml::plan
