#include "common/plan/job_map.h"

#include <algorithm>
#include <string>

namespace sml::plan {

namespace {

std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::uint64_t total_slots(const std::vector<MappedHost>& hosts) {
  std::uint64_t total = 0;
  for (const MappedHost& host : hosts) total += host.slots;
  return total;
}

Error too_many_processes(std::uint32_t np, std::uint64_t slots, std::size_t hosts) {
  return Error(ErrorKind::Usage, "-np " + std::to_string(np) + " is more than the " + counted(slots, "slot") + " of " +
                                     counted(hosts, "host") +
                                     "; lower -np, name more slots or hosts, or give --oversubscribe");
}

// How many ranks each host gets: its slots until np is used up, then what is beyond the slots dealt evenly.
std::vector<std::uint32_t> deal(const std::vector<MappedHost>& hosts, std::uint32_t np) {
  std::vector<std::uint32_t> counts(hosts.size(), 0);
  std::uint32_t left = np;
  std::uint32_t usable = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    counts[i] = std::min(hosts[i].slots, left);
    left -= counts[i];
    if (hosts[i].slots > 0) ++usable;
  }
  const std::uint32_t each = left / usable;
  std::uint32_t one_more = left % usable;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i].slots == 0) continue;
    counts[i] += each + (one_more > 0 ? 1 : 0);
    if (one_more > 0) --one_more;
  }
  return counts;
}

void assign_ranks(JobMap& map, const std::vector<std::uint32_t>& counts) {
  std::uint32_t group = 0;
  std::vector<std::uint32_t> hosts_with;  // by local rank: hosts so far that have it
  for (std::uint32_t h = 0; h < map.hosts.size(); ++h) {
    if (counts[h] == 0) continue;
    if (hosts_with.size() < counts[h]) hosts_with.resize(counts[h], 0);
    map.hosts[h].ranks.reserve(counts[h]);
    for (std::uint32_t local = 0; local < counts[h]; ++local) {
      const Rank rank(map.world_size());
      map.hosts[h].ranks.push_back(rank);
      map.ranks.push_back({rank, HostIndex(h), LocalRank(local), counts[h], group, hosts_with[local]++, 0});
    }
    ++group;
  }
  for (RankAssignment& a : map.ranks) a.cross_size = hosts_with[a.local_rank.value()];
}

Result<std::uint32_t> choose_world_size(const JobMap& map, std::optional<std::uint32_t> np,
                                        Oversubscribe oversubscribe) {
  const std::uint64_t slots = total_slots(map.hosts);
  if (slots == 0) return Error(ErrorKind::Usage, "no host has a slot; give at least one host a slot, as in NAME:1");
  const std::uint64_t wanted = np ? *np : slots;
  if (wanted > kMaxWorldSize) {
    return Error(ErrorKind::Usage, counted(wanted, "worker") + " are more than a job can have; the most is " +
                                       std::to_string(kMaxWorldSize));
  }
  if (wanted > slots && oversubscribe == Oversubscribe::No) return too_many_processes(*np, slots, map.hosts.size());
  return static_cast<std::uint32_t>(wanted);
}

}  // namespace

std::uint32_t JobMap::group_world_size() const {
  const auto used = std::count_if(hosts.begin(), hosts.end(), [](const MappedHost& h) { return !h.ranks.empty(); });
  return static_cast<std::uint32_t>(used);
}

std::uint32_t JobMap::member_hosts() const {
  if (helpers == 0) return group_world_size();
  const auto has = [this](const MappedHost& h) { return !h.ranks.empty() && h.ranks.front().value() < members(); };
  return static_cast<std::uint32_t>(std::count_if(hosts.begin(), hosts.end(), has));
}

Result<JobMap> map_job(const HostList& hosts, std::optional<std::uint32_t> np, Oversubscribe oversubscribe) {
  if (hosts.hosts.empty()) return Error(ErrorKind::Usage, "no hosts; name at least one");
  if (np == 0U) return Error(ErrorKind::Usage, "-np 0 starts nothing; expected at least 1");
  JobMap map;
  map.hosts.reserve(hosts.hosts.size());
  for (const Host& host : hosts.hosts) map.hosts.push_back({host, host.slots.value_or(1), {}});
  const Result<std::uint32_t> world_size = choose_world_size(map, np, oversubscribe);
  if (!world_size) return world_size.error();
  map.ranks.reserve(*world_size);
  assign_ranks(map, deal(map.hosts, *world_size));
  return map;
}

}  // namespace sml::plan
