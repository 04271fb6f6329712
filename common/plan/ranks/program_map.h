// Maps ranks to hosts in a job of several programs. Pure.
//
// Ranks are numbered program by program, with those of helpers last. Each program is laid out as if it were alone, on
// hosts of its own, or on the slots of the job's hosts that the programs before it have left free.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/ranks/job_map.h"

namespace sml::plan {

// The demands of one program.
struct ProgramShare {
  std::optional<std::uint32_t> np;  // nullopt: all slots that are left to it
  std::vector<Host> hosts;          // of its own, with their slots; empty: the job's hosts
  std::string role{"default"};
  Part part = Part::Worker;
};

// Like map_job(), for at least one program. A host that several programs name is one host with the slots of all. A
// rankfile may name only the job's hosts, and numbers the ranks as this function does; each program but the last then
// needs its np. With several programs, an error of one program (kind Usage) begins with "program N: ".
Result<JobMap> map_programs(const HostList& hosts, std::span<const ProgramShare> programs, const RankLayout& layout);

// Fills one host after the other.
inline Result<JobMap> map_programs(const HostList& hosts, std::span<const ProgramShare> programs,
                                   Oversubscribe oversubscribe) {
  RankLayout layout;
  layout.oversubscribe = oversubscribe;
  return map_programs(hosts, programs, layout);
}

}  // namespace sml::plan
