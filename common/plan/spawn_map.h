// Where ranks go that are started while a job runs, because ranks of it ask for them (MPI_Comm_spawn). Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/job_map.h"
#include "common/plan/rank_layout.h"

namespace sml::plan {

// One of the programs that a rank asks for.
struct SpawnProgram {
  std::vector<std::string> command;  // program and arguments
  std::uint32_t count = 0;           // ranks of it
  std::string working_directory{};   // absolute, or below that of the rank that asks; empty: that one
  std::vector<std::string> hosts{};  // the only ones on which it may run, by their names in the job; empty: any
  std::string search_path{};         // see Program
  void fields(auto& a) { a(command, count, working_directory, hosts, search_path); }
  bool operator==(const SpawnProgram&) const = default;
};

// The slots that nobody uses, by host; nothing: it takes no ranks.
using FreeSlots = std::vector<std::optional<std::uint32_t>>;
struct SpawnRoom {
  FreeSlots running;  // of hosts that run ranks
  FreeSlots idle;     // of others, that have to be reached first
};

// The new ranks as a world of their own, counted from 0, on the hosts of `job`; RankAssignment::program is the place in
// `programs`. Host after host is filled, idle ones where the running are full; with Oversubscribe::Yes the ranks beyond
// the slots are dealt evenly: every host gets one more in turn.
// Errors (Usage), clauses that follow "it": there are not enough of them, both numbers named, or the job would have
// more than kMaxWorldSize ranks; the job has no host of such a name.
Result<JobMap> map_spawn(const JobMap& job, const SpawnRoom& room, std::span<const SpawnProgram> programs,
                         Oversubscribe oversubscribe);

// The ranks of `world` follow the last of `job`, whose programs from `first_program` on they run.
void add_world(JobMap& job, const JobMap& world, std::uint32_t first_program);

}  // namespace sml::plan
