#include "launcher/plan/growth.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "launcher/plan/regroup.h"

namespace sml::plan {

namespace {

// Puts the hosts with ranks first, in the order of their ranks.
void order_by_ranks(JobMap& map) {
  const auto end = std::stable_partition(map.hosts.begin(), map.hosts.end(),
                                         [](const MappedHost& host) { return !host.ranks.empty(); });
  std::sort(map.hosts.begin(), end,
            [](const MappedHost& a, const MappedHost& b) { return a.ranks.front() < b.ranks.front(); });
  for (std::uint32_t i = 0; i < map.hosts.size(); ++i) {
    for (const Rank rank : map.hosts[i].ranks) map.ranks[rank.value()].host = HostIndex(i);
  }
}

void give_ranks(JobMap& map, std::size_t place, std::uint32_t count) {
  MappedHost& host = map.hosts[place];
  host.duty = HostDuty::Work;
  for (std::uint32_t local = 0; local < count; ++local) {
    RankAssignment a;
    a.rank = Rank(map.world_size());
    a.host = HostIndex(static_cast<std::uint32_t>(place));
    a.local_rank = LocalRank(local);
    a.local_size = count;
    host.ranks.push_back(a.rank);
    map.ranks.push_back(a);
  }
}

}  // namespace

JobMap grow(JobMap map, const MostSize& most, std::span<const HostId> ready) {
  if (!map.roles.empty() || !map.cores.empty() || map.helpers > 0) return map;
  const std::uint32_t before = map.world_size();
  std::size_t waiting = map.spares();
  for (std::size_t place = 0; place < map.hosts.size(); ++place) {
    const MappedHost& host = map.hosts[place];
    const bool is_ready = std::find(ready.begin(), ready.end(), host.id) != ready.end();
    if (host.duty != HostDuty::Spare || !is_ready || waiting <= most.spares) continue;
    if (most.hosts && map.group_world_size() >= *most.hosts) break;
    const std::uint32_t largest = most.ranks.value_or(kMaxWorldSize);
    const std::uint32_t room = largest - std::min(largest, map.world_size());
    const std::uint32_t count = std::min({host.slots, most.per_host.value_or(host.slots), room});
    if (count == 0) continue;
    give_ranks(map, place, count);
    --waiting;
  }
  if (map.world_size() == before) return map;
  order_by_ranks(map);
  number_densely(map);
  return map;
}

}  // namespace sml::plan
