#include "launcher/plan/regroup.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/core/text.h"

namespace sml::plan {

namespace {

bool is_spare(const MappedHost& host) { return host.duty == HostDuty::Spare; }

// A spare needs as many slots as the lost host has ranks, or, if that host was oversubscribed, as many slots as it had.
bool can_replace(const MappedHost& spare, const MappedHost& lost) {
  return is_spare(spare) && spare.slots >= std::min<std::size_t>(lost.slots, lost.ranks.size());
}

// Swaps the positions of the two hosts in the map; the spare gets the lost host's ranks.
void replace(MappedHost& lost, MappedHost& spare) {
  std::swap(lost, spare);
  lost.ranks = std::move(spare.ranks);
  lost.duty = HostDuty::Work;
  spare.ranks.clear();
  spare.duty = HostDuty::Out;
}

// Removes the ranks of the hosts that are out, and renumbers the others.
void shrink(JobMap& map) {
  std::vector<RankAssignment> kept;
  std::vector<std::string> cores;
  for (const RankAssignment& rank : map.ranks) {
    if (map.hosts[rank.host.value()].duty == HostDuty::Out) continue;
    kept.push_back(rank);
    if (!map.cores.empty()) cores.push_back(std::move(map.cores[rank.rank.value()]));
  }
  for (MappedHost& host : map.hosts) host.ranks.clear();
  map.cores = std::move(cores);
  map.ranks = std::move(kept);
  for (std::uint32_t rank = 0; rank < map.ranks.size(); ++rank) {
    RankAssignment& a = map.ranks[rank];
    a.rank = Rank(rank);
    map.hosts[a.host.value()].ranks.push_back(a.rank);
  }
}

Error too_few(const std::string& lost, std::size_t left, std::string_view noun, std::uint32_t least,
              std::string_view option) {
  return Error(ErrorKind::Lost, lost + " out, and " + pluralize(left, noun) + (left == 1 ? " is" : " are") +
                                    " fewer than the " + std::to_string(least) + " of " + std::string(option));
}

}  // namespace

void number_densely(JobMap& map) {
  std::uint32_t group = 0;
  std::vector<std::uint32_t> hosts_with;  // by local rank: the number of hosts so far that have it
  for (const MappedHost& host : map.hosts) {
    if (host.ranks.empty()) continue;
    for (const Rank rank : host.ranks) {
      RankAssignment& a = map.ranks[rank.value()];
      if (hosts_with.size() <= a.local_rank.value()) hosts_with.resize(a.local_rank.value() + 1, 0);
      a.group_rank = group;
      a.cross_rank = hosts_with[a.local_rank.value()]++;
    }
    ++group;
  }
  for (RankAssignment& a : map.ranks) a.cross_size = hosts_with[a.local_rank.value()];
}

Result<JobMap> regroup(JobMap map, std::span<const HostId> out, const LeastSize& least) {
  std::vector<std::size_t> vacant;  // places whose ranks need another host
  std::vector<std::string> names;
  for (std::size_t i = 0; i < map.hosts.size(); ++i) {
    MappedHost& host = map.hosts[i];
    if (host.duty == HostDuty::Out || std::find(out.begin(), out.end(), host.id) == out.end()) continue;
    host.duty = HostDuty::Out;
    if (!host.ranks.empty()) vacant.push_back(i);
  }
  std::erase_if(vacant, [&](std::size_t place) {
    MappedHost& lost = map.hosts[place];
    const auto fits = [&](const MappedHost& host) { return can_replace(host, lost); };
    const auto spare = std::find_if(map.hosts.begin(), map.hosts.end(), fits);
    if (spare == map.hosts.end()) {
      names.push_back(lost.host.name);
      return false;
    }
    replace(lost, *spare);
    return true;
  });
  if (vacant.empty()) return map;
  const std::string lost = fold_names(names) + (names.size() == 1 ? " is" : " are");
  if (!least.may_shrink()) {
    const bool some = std::any_of(map.hosts.begin(), map.hosts.end(), is_spare);
    return Error(ErrorKind::Lost, lost + " out, and " +
                                      (some ? "no spare host has the slots" : "no spare host is left") + " to take " +
                                      (names.size() == 1 ? "its" : "their") + " place (--spares)");
  }
  if (!map.roles.empty()) return Error(ErrorKind::Lost, lost + " out, and a job of several programs keeps its size");
  shrink(map);
  number_densely(map);
  const std::uint32_t hosts = map.group_world_size();
  if (least.hosts && hosts < *least.hosts) return too_few(lost, hosts, "host", *least.hosts, "--min-hosts");
  if (least.ranks && map.world_size() < *least.ranks) {
    return too_few(lost, map.world_size(), "rank", *least.ranks, "--min-np");
  }
  if (map.ranks.empty()) return Error(ErrorKind::Lost, "no host is left");
  return map;
}

Result<JobMap> arrange(JobMap map, std::span<const HostId> order) {
  const auto is_of = [](const MappedHost& host, HostId id) { return host.id == id; };
  if (std::equal(map.hosts.begin(), map.hosts.end(), order.begin(), order.end(), is_of)) return map;
  std::vector<MappedHost> hosts;
  std::vector<RankAssignment> ranks;
  std::vector<std::string> cores;
  for (const HostId id : order) {
    const auto host =
        std::find_if(map.hosts.begin(), map.hosts.end(), [id](const MappedHost& h) { return h.id == id; });
    if (host == map.hosts.end()) break;  // unknown, or in `order` twice
    for (Rank& rank : host->ranks) {
      RankAssignment& a = ranks.emplace_back(map.ranks[rank.value()]);
      if (!map.cores.empty()) cores.push_back(std::move(map.cores[rank.value()]));
      a.rank = rank = Rank(static_cast<std::uint32_t>(ranks.size() - 1));
      a.host = HostIndex(static_cast<std::uint32_t>(hosts.size()));
    }
    hosts.push_back(std::move(*host));
    map.hosts.erase(host);
  }
  if (hosts.size() != order.size() || !map.hosts.empty()) {
    return Error(ErrorKind::Config, "an order that does not have each host once");
  }
  map.hosts = std::move(hosts);
  map.ranks = std::move(ranks);
  map.cores = std::move(cores);
  number_densely(map);
  return map;
}

void let_back(JobMap& map, std::span<const HostId> out) {
  for (MappedHost& host : map.hosts) {
    const bool stays_out = std::find(out.begin(), out.end(), host.id) != out.end();
    if (host.duty == HostDuty::Out && !stays_out) host.duty = HostDuty::Spare;
  }
}

JobMap take_over_ids(JobMap next, const JobMap& before) {
  const auto same = [](const MappedHost& a, const MappedHost& b) {
    return a.host.name == b.host.name && a.host.user == b.host.user;
  };
  auto fresh = static_cast<std::uint32_t>(before.hosts.size());
  for (MappedHost& host : next.hosts) {
    const auto known = std::find_if(before.hosts.begin(), before.hosts.end(),
                                    [&](const MappedHost& other) { return same(host, other); });
    host.id = known == before.hosts.end() ? HostId(fresh++) : known->id;
  }
  const std::size_t used = next.hosts.size();
  for (const MappedHost& host : before.hosts) {
    const auto end = next.hosts.begin() + static_cast<std::ptrdiff_t>(used);
    if (std::any_of(next.hosts.begin(), end, [&](const MappedHost& other) { return host.id == other.id; })) continue;
    next.hosts.push_back({.host = host.host, .slots = host.slots, .ranks = {}, .id = host.id, .duty = HostDuty::Out});
  }
  return next;
}

std::vector<std::string> changes(const JobMap& before, const JobMap& after) {
  std::vector<std::string> out;
  if (before.world_size() < after.world_size()) {
    std::vector<std::string> come;
    const std::vector<HostIndex> places = before.places();
    for (const MappedHost& host : after.hosts) {
      const bool is_new =
          host.id.value() >= places.size() || before.hosts[places[host.id.value()].value()].ranks.empty();
      if (!host.ranks.empty() && is_new) come.push_back(host.host.name);
    }
    out.push_back("the job goes on with " + pluralize(after.world_size(), "rank") + " on " +
                  pluralize(after.group_world_size(), "host") + ", now with " + fold_names(come));
    return out;
  }
  if (before.world_size() != after.world_size()) {
    std::vector<std::string> gone;
    const std::vector<HostIndex> places = after.places();
    for (const MappedHost& host : before.hosts) {
      const MappedHost& now = after.hosts[places[host.id.value()].value()];
      if (!host.ranks.empty() && now.ranks.empty()) gone.push_back(host.host.name);
    }
    out.push_back("the job goes on with " + pluralize(after.world_size(), "rank") + " on " +
                  pluralize(after.group_world_size(), "host") + ", without " + fold_names(gone));
    return out;
  }
  for (std::size_t i = 0; i < before.hosts.size(); ++i) {
    const MappedHost& was = before.hosts[i];
    const MappedHost& is = after.hosts[i];
    if (is.ranks.empty() || was.ranks.empty() || was.id == is.id) continue;
    out.push_back(is.host.name + " takes the place of " + was.host.name + ", with its " +
                  pluralize(is.ranks.size(), "rank"));
  }
  return out;
}

LaunchPlan for_attempt(LaunchPlan plan, JobMap map, std::uint32_t attempt, std::uint32_t restarts,
                       const std::string& job_id) {
  plan.map = std::move(map);
  plan.job.attempt = attempt;
  plan.job.restarts = restarts;
  plan.job.job_id = job_id;
  return plan;
}

}  // namespace sml::plan
