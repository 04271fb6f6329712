// Parses Open MPI's rankfile: the host of each rank, and the cores that it may use there.
//
//   rank 0=algo-1 slot=0:0-1      cores 0 and 1 of socket 0
//   rank 1=algo-2 slot=4,6-7      cores 4, 6 and 7 of the host
//   rank 2=+n0    slot=1:*        socket 1 of the first host of the host list
//
// All numbers are logical: they count the host's sockets and cores from 0. "#" begins a comment.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/core_groups.h"

namespace sml::plan {

inline constexpr std::size_t kMaxRankfileBytes = std::size_t{16} << 20;

struct RankfileEntry {
  std::uint32_t rank = 0;
  std::string host;                         // empty: host_index is used
  std::optional<std::uint32_t> host_index;  // position in the job's host list
  std::string cores;                        // accepted by parse_core_groups(); empty: any
  std::uint32_t line = 0;                   // from 1
};

struct Rankfile {
  std::string path;                    // for messages
  std::vector<RankfileEntry> entries;  // indexed by rank, without gaps
};

// Errors (kind Config) are one line: "PATH:LINE: ", what is wrong there, and what was expected. A duplicate rank is an
// error, and so is a missing one below the largest.
Result<Rankfile> parse_rankfile(std::string_view text, std::string_view path);

}  // namespace sml::plan
