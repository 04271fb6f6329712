// How many ranks each host gets, and in which order they are numbered. Pure; who may ask for how many is decided
// before.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/plan/rank_layout.h"

namespace sml::plan {

// What ranks find on one host.
struct Room {
  std::uint32_t slots = 0;
  std::uint32_t free = 0;  // of its slots
};

// By host, `np` in all as far as per_host allows: per_host on each host that has slots, or free slots as map_by fills
// them; what is beyond these is dealt evenly over the hosts that have slots, but in rounds as many to each as it has.
// Reads nothing else of `layout`.
std::vector<std::uint32_t> deal_ranks(std::span<const Room> rooms, std::uint32_t np, const RankLayout& layout);

// The hosts of the ranks, by rank, as rank_by says, or map_by where it does not. `counts` were dealt to these `rooms`.
std::vector<std::uint32_t> number_ranks(std::vector<std::uint32_t> counts, std::span<const Room> rooms,
                                        const RankLayout& layout);

}  // namespace sml::plan
