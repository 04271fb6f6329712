#include "common/plan/ranks/rank_dealing.h"

#include <algorithm>

namespace sml::plan {

namespace {

using Counts = std::vector<std::uint32_t>;

// Deals the ranks beyond the slots evenly over the hosts that have slots.
void deal_rest(std::span<const Room> rooms, std::uint32_t left, Counts& counts) {
  const auto usable = static_cast<std::uint32_t>(
      std::count_if(rooms.begin(), rooms.end(), [](const Room& room) { return room.slots > 0; }));
  if (usable == 0) return;
  const std::uint32_t each = left / usable;
  std::uint32_t one_more = left % usable;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    if (rooms[i].slots == 0) continue;
    counts[i] += each + (one_more > 0 ? 1 : 0);
    if (one_more > 0) --one_more;
  }
}

// Fills the free slots of one host after the other.
Counts deal_by_slot(std::span<const Room> rooms, std::uint32_t np) {
  Counts counts(rooms.size(), 0);
  std::uint32_t left = np;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    counts[i] = std::min(rooms[i].free, left);
    left -= counts[i];
  }
  if (left > 0) deal_rest(rooms, left, counts);
  return counts;
}

// Gives each host one rank in turn as long as it has a free slot.
Counts deal_by_host(std::span<const Room> rooms, std::uint32_t np) {
  Counts counts(rooms.size(), 0);
  std::uint32_t left = np;
  for (bool some = true; some && left > 0;) {
    some = false;
    for (std::size_t i = 0; i < rooms.size() && left > 0; ++i) {
      if (counts[i] == rooms[i].free) continue;
      ++counts[i];
      --left;
      some = true;
    }
  }
  if (left > 0) deal_rest(rooms, left, counts);
  return counts;
}

// Offers each host as many ranks as it has free slots, then repeatedly as many as it has slots, until `give` takes none
// in a round.
template <class Give>
void go_round(std::span<const Room> rooms, Give give) {
  for (bool first = true, some = true; some; first = false) {
    some = false;
    for (std::uint32_t host = 0; host < rooms.size(); ++host) {
      const std::uint32_t places = first ? rooms[host].free : rooms[host].slots;
      if (give(host, places)) some = true;
    }
    some = some || first;  // the first round may take none, as no slot may be free
  }
}

Counts deal_in_rounds(std::span<const Room> rooms, std::uint32_t np) {
  Counts counts(rooms.size(), 0);
  go_round(rooms, [&, left = np](std::uint32_t host, std::uint32_t places) mutable {
    const std::uint32_t taken = std::min(places, left);
    counts[host] += taken;
    left -= taken;
    return taken > 0;
  });
  return counts;
}

std::vector<std::uint32_t> number_in_rounds(Counts left, std::span<const Room> rooms) {
  std::vector<std::uint32_t> out;
  go_round(rooms, [&](std::uint32_t host, std::uint32_t places) {
    const std::uint32_t taken = std::min(places, left[host]);
    out.insert(out.end(), taken, host);
    left[host] -= taken;
    return taken > 0;
  });
  return out;
}

Counts deal_per_host(std::span<const Room> rooms, std::uint32_t np, std::uint32_t per_host) {
  Counts counts(rooms.size(), 0);
  std::uint32_t left = np;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    counts[i] = rooms[i].slots == 0 ? 0 : std::min(per_host, left);
    left -= counts[i];
  }
  return counts;
}

std::vector<std::uint32_t> number_by_slot(const Counts& counts) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t host = 0; host < counts.size(); ++host) out.insert(out.end(), counts[host], host);
  return out;
}

std::vector<std::uint32_t> number_by_host(Counts left) {
  std::vector<std::uint32_t> hosts;  // hosts that still have ranks to be numbered
  for (std::uint32_t host = 0; host < left.size(); ++host) {
    if (left[host] > 0) hosts.push_back(host);
  }
  std::vector<std::uint32_t> out;
  while (!hosts.empty()) {
    for (const std::uint32_t host : hosts) {
      out.push_back(host);
      --left[host];
    }
    std::erase_if(hosts, [&](std::uint32_t host) { return left[host] == 0; });
  }
  return out;
}

}  // namespace

Counts deal_ranks(std::span<const Room> rooms, std::uint32_t np, const RankLayout& layout) {
  if (layout.per_host) return deal_per_host(rooms, np, *layout.per_host);
  if (layout.map_by == MapBy::Rounds) return deal_in_rounds(rooms, np);
  return layout.map_by == MapBy::Host ? deal_by_host(rooms, np) : deal_by_slot(rooms, np);
}

std::vector<std::uint32_t> number_ranks(Counts counts, std::span<const Room> rooms, const RankLayout& layout) {
  const bool in_rounds = layout.map_by == MapBy::Rounds && !layout.per_host;
  if (in_rounds && !layout.rank_by) return number_in_rounds(std::move(counts), rooms);
  const RankBy natural = layout.map_by == MapBy::Host ? RankBy::Host : RankBy::Slot;
  const bool by_host = layout.rank_by.value_or(natural) == RankBy::Host;
  return by_host ? number_by_host(std::move(counts)) : number_by_slot(counts);
}

}  // namespace sml::plan
