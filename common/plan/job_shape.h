// Where all ranks of a job are, in a few bytes, for services that tell their workers of the others. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/strong.h"
#include "common/plan/job_map.h"

namespace sml::plan {

// Ranks that follow each other, on one host, of one program.
struct RankRun {
  std::uint32_t host = 0;     // in JobShape::hosts
  std::uint32_t program = 0;  // RankAssignment::program
  std::uint32_t count = 0;
  void fields(auto& a) { a(host, program, count); }
  bool operator==(const RankRun&) const = default;
};

// The members of the job's world; helpers are none.
struct JobShape {
  std::vector<std::string> hosts;  // names of those that have members, in host order
  std::vector<RankRun> runs;       // all ranks in order
  std::uint32_t slots = 0;         // of all hosts of the job, at least one for each member
  std::uint32_t universe = 0;      // of those that ranks may be spawned on; likewise. 0: nobody has counted them
  void fields(auto& a) { a(hosts, runs, slots, universe); }

  std::uint32_t size() const;  // members; 0 where the runs count too many for a job
  // Nothing: no member.
  std::optional<RankRun> run_of(Rank rank) const;
};

JobShape shape_of(const JobMap& map);

// Which ranks share a host, as PMI tells it: "(vector,(0,2,8))" are 2 hosts from host 0 on with 8 ranks each, and what
// is listed comes again until all ranks have their host. Hosts are numbered by their first rank: MPICH 5 begins again
// at host 0, wherever that stands. Empty: it would be longer than `most` bytes.
std::string process_mapping(const JobShape& shape, std::size_t most);

// How ranks that speak MPI are brought together.
enum class MpiMeeting : std::uint8_t {
  None,  // nobody does
  Auto,  // by what each host finds of the program; one of which nothing is to be seen gets PMI and PMIx
  Pmi1,
  Pmi2,
  Pmix,
};

}  // namespace sml::plan
