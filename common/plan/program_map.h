// Which rank runs where in a job of several programs. Pure.
//
// Ranks run on over the programs in their order, those of helpers last. Each program is laid over hosts as if it were
// alone: hosts of its own, or what the programs before it have left of the job's.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/job_map.h"

namespace sml::plan {

enum class Placement : std::uint8_t {
  Slots,      // one rank in each slot
  FirstHost,  // one rank on rank 0's host, whatever its slots
  EachHost,   // one rank on each host that has workers, whatever its slots
};

// What one program asks for.
struct ProgramShare {
  std::optional<std::uint32_t> np;  // nothing: all slots that are left to it
  std::vector<Host> hosts;          // of its own, with their slots; empty: the job's
  std::string role{"default"};
  Part part = Part::Worker;
  Placement placement = Placement::Slots;
};

// As map_job(), for at least one program, the first of which is placed by slots. A host that several programs name is
// one host with the slots of all. A rankfile names the job's hosts only, and counts ranks as they are counted here;
// each program but the last then needs its np. Errors that are one program's (kind Usage) begin with "program N: "
// where there are several.
Result<JobMap> map_programs(const HostList& hosts, std::span<const ProgramShare> programs, const RankLayout& layout);

// Host after host.
inline Result<JobMap> map_programs(const HostList& hosts, std::span<const ProgramShare> programs,
                                   Oversubscribe oversubscribe) {
  RankLayout layout;
  layout.oversubscribe = oversubscribe;
  return map_programs(hosts, programs, layout);
}

}  // namespace sml::plan
