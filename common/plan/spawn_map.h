// Where ranks go that are started while a job runs, because ranks of it ask for them (MPI_Comm_spawn). Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/job_map.h"

namespace sml::plan {

// One of the programs that a rank asks for.
struct SpawnProgram {
  std::vector<std::string> command;  // program and arguments
  std::uint32_t count = 0;           // ranks of it
  std::string working_directory{};   // absolute, or below that of the rank that asks; empty: that one
  std::vector<std::string> hosts{};  // the only ones on which it may run, by their names in the job; empty: any
  void fields(auto& a) { a(command, count, working_directory, hosts); }
  bool operator==(const SpawnProgram&) const = default;
};

// The new ranks as a world of their own, counted from 0, on the hosts of `job`; RankAssignment::program is the place in
// `programs`. `free` has the slots that nobody uses, by host. Host after host is filled.
// Errors (Usage), clauses that follow "it": there are not enough of them, both numbers named; no host of such a name
// has ranks.
Result<JobMap> map_spawn(const JobMap& job, std::span<const std::uint32_t> free,
                         std::span<const SpawnProgram> programs);

// The ranks of `world` follow the last of `job`, whose programs from `first_program` on they run.
void add_world(JobMap& job, const JobMap& world, std::uint32_t first_program);

}  // namespace sml::plan
