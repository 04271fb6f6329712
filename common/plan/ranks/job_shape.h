// The hosts of all ranks of a job in a few bytes, for services that describe the other ranks to workers. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/runs.h"
#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"

namespace sml::plan {

// Consecutive ranks on one host that run the same program.
struct RankRun {
  std::uint32_t host = 0;     // index in JobShape::hosts
  std::uint32_t program = 0;  // RankAssignment::program
  std::uint32_t count = 0;
  bool operator==(const RankRun&) const = default;
};

// Runs of the same program and length, one on each of several consecutive hosts.
struct RankBlock {
  RankRun first;            // the run on the first of these hosts
  std::uint32_t hosts = 1;  // the number of these hosts
  void fields(auto& a) { a(first.host, first.program, first.count, hosts); }
  bool operator==(const RankBlock&) const = default;
};

// The members of the job's world, without helpers.
struct JobShape {
  NameRuns hosts;                 // names of the hosts that have members, in host order
  std::vector<RankBlock> blocks;  // all ranks in order
  std::uint32_t slots = 0;        // of all hosts of the job; at least one for each member
  // slots of the hosts on which ranks may be spawned; at least one for each member. 0: unknown
  std::uint32_t universe = 0;
  void fields(auto& a) { a(hosts, blocks, slots, universe); }

  void add(const RankRun& run);       // appends a run; `hosts` stays
  std::vector<RankRun> runs() const;  // all ranks in order; empty if they are more than a job may have

  std::uint32_t size() const;  // number of members; 0 if the blocks add up to more than a job may have
  // Returns nullopt if the rank is no member.
  std::optional<RankRun> run_of(Rank rank) const;
};

JobShape shape_of(const JobMap& map);

// The hosts of all ranks in the format of PMI_process_mapping: "(vector,(0,2,8))" are 2 hosts from host 0 on with 8
// ranks each, and the list repeats until all ranks have their host. Hosts are numbered in the order of their first
// ranks, so that the list begins with host 0: MPICH 5 begins each repetition with host 0, wherever the list has that
// host. Empty: it would be longer than `most` bytes.
std::string process_mapping(const JobShape& shape, std::size_t most);

// The interfaces by which MPI ranks find each other.
enum class PmiMode : std::uint8_t {
  None,  // none is offered
  Auto,  // chosen by each host from what it finds of the program; PMI and PMIx if it finds nothing
  Pmi1,
  Pmi2,
  Pmix,
};

}  // namespace sml::plan
