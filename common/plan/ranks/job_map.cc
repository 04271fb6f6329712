#include "common/plan/ranks/job_map.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/core/text.h"
#include "common/plan/ranks/rank_dealing.h"

namespace sml::plan {

namespace {

std::uint64_t total_slots(const std::vector<MappedHost>& hosts) {
  std::uint64_t total = 0;
  for (const MappedHost& host : hosts) total += host.slots;
  return total;
}

Error too_many_processes(std::uint32_t np, std::uint64_t slots, std::size_t hosts) {
  return Error(ErrorKind::Usage, "-np " + std::to_string(np) + " is more than the " + pluralize(slots, "slot") +
                                     " of " + pluralize(hosts, "host") +
                                     "; lower -np, name more slots or hosts, or give --oversubscribe");
}

// ---- placing ranks on hosts

using Counts = std::vector<std::uint32_t>;

Error too_many_on_one(std::uint32_t wanted, const MappedHost& host) {
  return Error(ErrorKind::Usage, pluralize(wanted, "worker") + " on each host are more than the " +
                                     pluralize(host.slots, "slot") + " of " + host.host.name +
                                     "; ask for fewer, give the host more slots, or give --oversubscribe");
}

// The number of ranks that `per_host` permits on all hosts together.
Result<std::uint64_t> room_per_host(const JobMap& map, const RankLayout& layout) {
  std::uint64_t room = 0;
  for (const MappedHost& host : map.hosts) {
    if (host.slots == 0) continue;
    if (*layout.per_host > host.slots && layout.oversubscribe == Oversubscribe::No) {
      return too_many_on_one(*layout.per_host, host);
    }
    room += *layout.per_host;
  }
  return room;
}

Result<std::uint32_t> choose_world_size(const JobMap& map, std::optional<std::uint32_t> np, const RankLayout& layout) {
  const std::uint64_t slots = total_slots(map.hosts);
  if (slots == 0) return Error(ErrorKind::Usage, "no host has a slot; give at least one host a slot, as in NAME:1");
  const Result<std::uint64_t> room = layout.per_host ? room_per_host(map, layout) : slots;
  if (!room) return room.error();
  const std::uint64_t wanted = np ? *np : *room;
  if (wanted > kMaxWorldSize) {
    return Error(ErrorKind::Usage, pluralize(wanted, "worker") + " are more than a job can have; the most is " +
                                       std::to_string(kMaxWorldSize));
  }
  if (layout.per_host && wanted > *room) {
    return Error(ErrorKind::Usage, "-np " + std::to_string(wanted) + " is more than the " + pluralize(*room, "worker") +
                                       " that " + std::to_string(*layout.per_host) + " on each host make");
  }
  const bool fits = wanted <= slots || layout.oversubscribe == Oversubscribe::Yes;
  if (!fits) return too_many_processes(*np, slots, map.hosts.size());
  return static_cast<std::uint32_t>(wanted);
}

// The host of each rank.
std::vector<HostIndex> place(const JobMap& map, std::uint32_t np, const RankLayout& layout) {
  std::vector<Room> rooms;
  rooms.reserve(map.hosts.size());
  for (const MappedHost& host : map.hosts) rooms.push_back({host.slots, host.slots});
  std::vector<HostIndex> out;
  out.reserve(np);
  for (const std::uint32_t host : number_ranks(deal_ranks(rooms, np, layout), rooms, layout)) out.emplace_back(host);
  return out;
}

// ---- rankfile

Error bad_line(const Rankfile& file, std::uint32_t rank, const std::string& what) {
  return Error(ErrorKind::Config, show(file.path) + ":" + std::to_string(file.entries[rank].line) + ": " + what);
}

// Orders the hosts by their first rank, so that the host of rank 0 is the first; hosts without ranks come last.
void order_hosts(JobMap& map, std::vector<HostIndex>& hosts_of) {
  std::vector<std::uint32_t> place(map.hosts.size(), UINT32_MAX);
  std::vector<MappedHost> ordered;
  const auto move_host = [&](std::uint32_t host) {
    if (place[host] != UINT32_MAX) return;
    place[host] = static_cast<std::uint32_t>(ordered.size());
    ordered.push_back(std::move(map.hosts[host]));
  };
  for (const HostIndex host : hosts_of) move_host(host.value());
  for (std::uint32_t host = 0; host < map.hosts.size(); ++host) move_host(host);
  for (HostIndex& host : hosts_of) host = HostIndex(place[host.value()]);
  map.hosts = std::move(ordered);
}

Result<JobMap> map_by_rankfile(JobMap map, const HostList& hosts, std::optional<std::uint32_t> np,
                               const RankLayout& layout) {
  const Rankfile& file = *layout.rankfile;
  if (np && *np > file.entries.size()) {
    return Error(ErrorKind::Usage, "-np " + std::to_string(*np) + " is more than the " +
                                       pluralize(file.entries.size(), "rank") + " of " + file.path);
  }
  Result<std::vector<HostIndex>> hosts_of = hosts_of_ranks(file, hosts.hosts);
  if (!hosts_of) return hosts_of.error();
  if (np) hosts_of->resize(*np);
  if (layout.oversubscribe == Oversubscribe::No) {
    if (Result<void> fits = check_slots(file, *hosts_of, map.hosts); !fits) return fits.error();
  }
  order_hosts(map, *hosts_of);
  number_hosts(map);
  assign_ranks(map, *hosts_of);
  for (std::size_t rank = 0; rank < hosts_of->size(); ++rank) map.cores.push_back(file.entries[rank].cores);
  return map;
}

}  // namespace

void assign_ranks(JobMap& map, const std::vector<HostIndex>& hosts_of) {
  map.ranks.resize(hosts_of.size());
  for (std::uint32_t rank = 0; rank < hosts_of.size(); ++rank) {
    map.hosts[hosts_of[rank].value()].ranks.emplace_back(rank);
  }
  std::uint32_t group = 0;
  std::vector<std::uint32_t> hosts_with;  // by local rank: the number of hosts so far that have it
  for (std::uint32_t h = 0; h < map.hosts.size(); ++h) {
    const std::vector<Rank>& ranks = map.hosts[h].ranks;
    if (ranks.empty()) continue;
    const auto size = static_cast<std::uint32_t>(ranks.size());
    if (hosts_with.size() < size) hosts_with.resize(size, 0);
    for (std::uint32_t local = 0; local < size; ++local) {
      map.ranks[ranks[local].value()] = {
          ranks[local], HostIndex(h), LocalRank(local), size, group, hosts_with[local]++, 0};
    }
    ++group;
  }
  for (RankAssignment& a : map.ranks) a.cross_size = hosts_with[a.local_rank.value()];
}

std::uint32_t JobMap::group_world_size() const {
  const auto used = std::count_if(hosts.begin(), hosts.end(), [](const MappedHost& h) { return !h.ranks.empty(); });
  return static_cast<std::uint32_t>(used);
}

std::uint32_t JobMap::member_hosts() const {
  if (helpers == 0 && spawned == 0) return group_world_size();
  const auto has = [this](const MappedHost& h) { return !h.ranks.empty() && h.ranks.front().value() < members(); };
  return static_cast<std::uint32_t>(std::count_if(hosts.begin(), hosts.end(), has));
}

std::size_t JobMap::spares() const {
  const auto waits = [](const MappedHost& host) { return host.duty == HostDuty::Spare; };
  return static_cast<std::size_t>(std::count_if(hosts.begin(), hosts.end(), waits));
}

void number_hosts(JobMap& map) {
  for (std::uint32_t i = 0; i < map.hosts.size(); ++i) map.hosts[i].id = HostId(i);
}

std::vector<HostIndex> JobMap::places() const {
  std::vector<HostIndex> out(hosts.size());
  for (std::uint32_t i = 0; i < hosts.size(); ++i) out[hosts[i].id.value()] = HostIndex(i);
  return out;
}

Result<std::vector<HostIndex>> hosts_of_ranks(const Rankfile& file, const std::vector<Host>& hosts) {
  std::unordered_map<std::string_view, std::uint32_t> by_name;
  for (std::uint32_t i = 0; i < hosts.size(); ++i) by_name.emplace(hosts[i].name, i);
  std::vector<HostIndex> out;
  for (const RankfileEntry& entry : file.entries) {
    const auto found = by_name.find(entry.host);
    if (!entry.host_index && found == by_name.end()) {
      return bad_line(file, entry.rank, entry.host + " is none of the job's hosts");
    }
    if (entry.host_index && *entry.host_index >= hosts.size()) {
      return bad_line(file, entry.rank,
                      "there is no host +n" + std::to_string(*entry.host_index) + "; the job has " +
                          pluralize(hosts.size(), "host") + ", from +n0 on");
    }
    out.emplace_back(entry.host_index ? *entry.host_index : found->second);
  }
  return out;
}

Result<void> check_slots(const Rankfile& file, std::span<const HostIndex> hosts_of, std::span<const MappedHost> hosts) {
  Counts counts(hosts.size(), 0);
  for (std::uint32_t rank = 0; rank < hosts_of.size(); ++rank) {
    const MappedHost& host = hosts[hosts_of[rank].value()];
    if (++counts[hosts_of[rank].value()] <= host.slots) continue;
    return bad_line(file, rank,
                    "rank " + std::to_string(rank) + " is one more than the " + pluralize(host.slots, "slot") + " of " +
                        host.host.name + "; give the host more slots, or give --oversubscribe");
  }
  return {};
}

Result<JobMap> map_job(const HostList& hosts, std::optional<std::uint32_t> np, const RankLayout& layout) {
  if (hosts.hosts.empty()) return Error(ErrorKind::Usage, "no hosts; name at least one");
  if (np == 0U) return Error(ErrorKind::Usage, "-np 0 starts nothing; expected at least 1");
  JobMap map;
  map.hosts.reserve(hosts.hosts.size());
  for (const Host& host : hosts.hosts) map.hosts.push_back({host, host.slots.value_or(1), {}});
  if (layout.rankfile) return map_by_rankfile(std::move(map), hosts, np, layout);
  const Result<std::uint32_t> world_size = choose_world_size(map, np, layout);
  if (!world_size) return world_size.error();
  number_hosts(map);
  assign_ranks(map, place(map, *world_size, layout));
  return map;
}

}  // namespace sml::plan
