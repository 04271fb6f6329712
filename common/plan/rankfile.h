// Open MPI's rankfile: each rank's host, and the cores that it may use there.
//
//   rank 0=algo-1 slot=0:0-1      cores 0 and 1 of socket 0
//   rank 1=algo-2 slot=4,6-7      cores 4, 6 and 7 of the host
//   rank 2=+n0    slot=1:*        socket 1 of the first host of the host list
//
// All numbers are logical: they count from 0 what the host has. "#" begins a comment.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/core_groups.h"

namespace sml::plan {

inline constexpr std::size_t kMaxRankfileBytes = std::size_t{16} << 20;

struct RankfileEntry {
  std::uint32_t rank = 0;
  std::string host;                         // empty: host_index says which
  std::optional<std::uint32_t> host_index;  // position in the job's host list
  std::string cores;                        // accepted by parse_core_groups(); empty: any
  std::uint32_t line = 0;                   // from 1
};

struct Rankfile {
  std::string path;                    // for messages
  std::vector<RankfileEntry> entries;  // by rank; all from 0 on
};

// Errors (kind Config) are one line: PATH:LINE: what is wrong there and what was expected. A rank twice, or one that is
// missing below the largest, is an error too.
Result<Rankfile> parse_rankfile(std::string_view text, std::string_view path);

}  // namespace sml::plan
