// Computes the number of ranks of each host, and the order in which they are numbered. Pure. The callers check
// beforehand that the number of ranks is permitted.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/plan/ranks/rank_layout.h"

namespace sml::plan {

// The slots of one host.
struct Room {
  std::uint32_t slots = 0;
  std::uint32_t free = 0;  // the number of slots that are free
};

// Returns the number of ranks of each host, `np` in total as far as per_host permits. With per_host: that many on each
// host that has slots. Otherwise the free slots are filled in the order of map_by, and the ranks beyond these are dealt
// evenly over the hosts that have slots; MapBy::Rounds instead gives each host as many as it has slots in every further
// round. Uses no other fields of `layout`.
std::vector<std::uint32_t> deal_ranks(std::span<const Room> rooms, std::uint32_t np, const RankLayout& layout);

// Returns the host of each rank, in the order of rank_by, or else of map_by. `counts` must come from deal_ranks() with
// these `rooms`.
std::vector<std::uint32_t> number_ranks(std::vector<std::uint32_t> counts, std::span<const Room> rooms,
                                        const RankLayout& layout);

}  // namespace sml::plan
