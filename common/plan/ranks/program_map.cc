#include "common/plan/ranks/program_map.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/core/text.h"
#include "common/plan/ranks/rank_dealing.h"

namespace sml::plan {

namespace {

// One host, and the slots of one program on it.
struct ProgramSlots {
  std::size_t host = 0;  // index into Mapping::hosts
  Room room;
};

// Consecutive ranks of one program on one host.
struct Stretch {
  std::size_t host;
  std::uint32_t program;
  std::uint32_t count;
};

class Mapping {
 public:
  std::vector<ProgramSlots> add(const std::vector<Host>& added) {
    std::vector<ProgramSlots> out;
    for (const Host& host : added) {
      const auto [at, is_new] = index_.try_emplace(host.name, hosts_.size());
      const std::uint32_t slots = host.slots.value_or(1);
      if (is_new) {
        hosts_.push_back({host, slots, {}});
      } else {
        hosts_[at->second].slots += slots;
      }
      out.push_back({at->second, {slots, slots}});
    }
    return out;
  }
  std::vector<MappedHost>& hosts() { return hosts_; }

 private:
  std::vector<MappedHost> hosts_;
  std::unordered_map<std::string, std::size_t> index_;
};

// The number of ranks that `per_host` permits; an error if there are not enough free slots for them.
Result<std::uint64_t> room_per_host(const std::vector<ProgramSlots>& places, const std::vector<MappedHost>& hosts,
                                    const RankLayout& layout) {
  std::uint64_t total = 0;
  for (const ProgramSlots& place : places) {
    if (place.room.slots == 0) continue;
    if (*layout.per_host > place.room.free && layout.oversubscribe == Oversubscribe::No) {
      return Error(ErrorKind::Usage, pluralize(*layout.per_host, "worker") + " on each host are more than the " +
                                         pluralize(place.room.free, "slot") + " that " + hosts[place.host].host.name +
                                         " has left; ask for fewer, give the host more slots, or give --oversubscribe");
    }
    total += *layout.per_host;
  }
  return total;
}

Error too_many(std::uint32_t np, std::uint64_t free, std::uint64_t slots, std::size_t hosts) {
  const std::string of_hosts = pluralize(slots, "slot") + " of " + pluralize(hosts, "host");
  if (slots == 0) return Error(ErrorKind::Usage, "no host has a slot; give at least one host a slot, as in NAME:1");
  if (free == 0) {
    return Error(ErrorKind::Usage,
                 "the programs before it have taken the " + of_hosts +
                     "; give them a lower -np, name more slots or hosts, or give --oversubscribe (a word \":\" begins "
                     "another program)");
  }
  const std::string_view left = free == slots ? "" : " that are left of the ";
  return Error(ErrorKind::Usage, "-np " + std::to_string(np) + " is more than the " +
                                     (left.empty() ? "" : std::to_string(free) + std::string(left)) + of_hosts +
                                     "; lower -np, name more slots or hosts, or give --oversubscribe");
}

Result<std::uint32_t> size_of(const ProgramShare& program, const std::vector<ProgramSlots>& places,
                              const std::vector<MappedHost>& hosts, const RankLayout& layout) {
  std::uint64_t free = 0;
  std::uint64_t slots = 0;
  for (const ProgramSlots& place : places) {
    free += place.room.free;
    slots += place.room.slots;
  }
  if (layout.per_host && slots > 0) {
    const Result<std::uint64_t> room = room_per_host(places, hosts, layout);
    if (!room) return room.error();
    if (program.np.value_or(0) > *room) {
      return Error(ErrorKind::Usage, "-np " + std::to_string(*program.np) + " is more than the " +
                                         pluralize(*room, "worker") + " that " + std::to_string(*layout.per_host) +
                                         " on each host make");
    }
    return program.np.value_or(static_cast<std::uint32_t>(std::min<std::uint64_t>(*room, kMaxWorldSize + 1)));
  }
  const bool more_is_allowed = layout.oversubscribe == Oversubscribe::Yes && slots > 0;
  if (program.np && (*program.np <= free || more_is_allowed)) return *program.np;
  if (!program.np && free > 0) return static_cast<std::uint32_t>(std::min<std::uint64_t>(free, kMaxWorldSize + 1));
  return too_many(program.np.value_or(0), free, slots, places.size());
}

void take(std::vector<ProgramSlots>& places, std::uint32_t np, std::uint32_t program, const RankLayout& layout,
          std::vector<Stretch>& out) {
  std::vector<Room> rooms;
  for (const ProgramSlots& place : places) rooms.push_back(place.room);
  std::vector<std::uint32_t> counts = deal_ranks(rooms, np, layout);
  for (std::size_t i = 0; i < places.size(); ++i) places[i].room.free -= std::min(places[i].room.free, counts[i]);
  const std::size_t begin = out.size();
  for (const std::uint32_t place : number_ranks(std::move(counts), rooms, layout)) {
    const std::size_t host = places[place].host;
    if (out.size() > begin && out.back().host == host) {
      ++out.back().count;
    } else {
      out.push_back({host, program, 1});
    }
  }
}

Error of_program(const Error& why, std::uint32_t program, std::span<const ProgramShare> programs) {
  return programs.size() == 1 ? why : Error(why).in("program " + std::to_string(program + 1));
}

// Lays out each program in the slots that are left of its hosts.
Result<void> lay_by_slots(std::span<const ProgramShare> programs, const RankLayout& layout,
                          std::vector<ProgramSlots> shared, Mapping& mapping, std::vector<Stretch>& out) {
  std::uint64_t total = 0;
  for (std::uint32_t p = 0; p < programs.size(); ++p) {
    std::vector<ProgramSlots> own = mapping.add(programs[p].hosts);
    std::vector<ProgramSlots>& places = own.empty() ? shared : own;
    const Result<std::uint32_t> size = size_of(programs[p], places, mapping.hosts(), layout);
    if (!size) return of_program(size.error(), p, programs);
    total += *size;
    if (total > kMaxWorldSize) {
      return Error(ErrorKind::Usage, pluralize(total, "worker") + " are more than a job can have; the most is " +
                                         std::to_string(kMaxWorldSize));
    }
    take(places, *size, p, layout, out);
  }
  return {};
}

// The programs in the order of their ranks: helpers last.
std::vector<std::uint32_t> order_of_ranks(std::span<const ProgramShare> programs) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t p = 0; p < programs.size(); ++p) {
    out.push_back(p);
  }
  std::stable_partition(out.begin(), out.end(), [&](std::uint32_t p) { return programs[p].part != Part::Helper; });
  return out;
}

Result<std::uint32_t> size_in_rankfile(const ProgramShare& program, std::size_t left, bool is_last,
                                       const std::string& path) {
  if (!program.hosts.empty()) {
    return Error(ErrorKind::Usage, "--rankfile names the hosts of its workers; leave out -H here");
  }
  if (!program.np && !is_last) {
    return Error(ErrorKind::Usage, "with --rankfile it needs -np: only the program with the last ranks does without");
  }
  if (left > 0 && program.np.value_or(0) <= left) return program.np.value_or(static_cast<std::uint32_t>(left));
  if (left == 0) return Error(ErrorKind::Usage, path + " has no rank left for it");
  return Error(ErrorKind::Usage, "-np " + std::to_string(*program.np) + " is more than the " + pluralize(left, "rank") +
                                     " that " + path + " has left");
}

// Gives each program the next ranks of the rankfile. `places` correspond to `hosts`.
Result<void> lay_by_rankfile(std::span<const ProgramShare> programs, const RankLayout& layout, const HostList& hosts,
                             const std::vector<ProgramSlots>& places, Mapping& mapping, std::vector<Stretch>& out) {
  const Rankfile& file = *layout.rankfile;
  Result<std::vector<HostIndex>> hosts_of = hosts_of_ranks(file, hosts.hosts);
  if (!hosts_of) return hosts_of.error();
  const std::vector<std::uint32_t> order = order_of_ranks(programs);
  for (const std::uint32_t p : order) {
    const Result<std::uint32_t> size =
        size_in_rankfile(programs[p], hosts_of->size() - out.size(), p == order.back(), file.path);
    if (!size) return of_program(size.error(), p, programs);
    for (std::uint32_t i = 0; i < *size; ++i) {
      HostIndex& host = (*hosts_of)[out.size()];
      host = HostIndex(static_cast<std::uint32_t>(places[host.value()].host));
      out.push_back({host.value(), p, 1});
    }
  }
  hosts_of->resize(out.size());
  if (layout.oversubscribe == Oversubscribe::Yes) return {};
  return check_slots(file, *hosts_of, mapping.hosts());
}

// Orders the hosts by their first ranks, those without ranks last, and updates the stretches accordingly.
std::vector<MappedHost> order_hosts(std::vector<MappedHost> hosts, std::vector<Stretch>& stretches) {
  constexpr std::size_t kNowhere = SIZE_MAX;
  std::vector<std::size_t> place(hosts.size(), kNowhere);
  std::vector<MappedHost> out;
  out.reserve(hosts.size());
  const auto move = [&](std::size_t host) {
    if (place[host] != kNowhere) return;
    place[host] = out.size();
    out.push_back(std::move(hosts[host]));
  };
  for (const Stretch& s : stretches) move(s.host);
  for (std::size_t i = 0; i < place.size(); ++i) move(i);
  for (Stretch& s : stretches) s.host = place[s.host];
  return out;
}

void assign(JobMap& map, std::span<const ProgramShare> programs, const std::vector<Stretch>& stretches) {
  std::map<std::string_view, std::uint32_t> in_role;
  for (const Stretch& s : stretches) {
    const ProgramShare& program = programs[s.program];
    MappedHost& host = map.hosts[s.host];
    for (std::uint32_t i = 0; i < s.count; ++i) {
      const Rank rank(map.world_size());
      map.ranks.push_back({.rank = rank,
                           .host = HostIndex(static_cast<std::uint32_t>(s.host)),
                           .local_rank = LocalRank(static_cast<std::uint32_t>(host.ranks.size())),
                           .group_rank = static_cast<std::uint32_t>(s.host),
                           .program = s.program,
                           .role_rank = in_role[program.role]++,
                           .part = program.part});
      host.ranks.push_back(rank);
    }
    if (program.part == Part::Helper) map.helpers += s.count;
  }
  for (RankAssignment& a : map.ranks) a.role_size = in_role[programs[a.program].role];
}

// Computes the local size, cross rank and cross size of all ranks.
void count_others(JobMap& map) {
  std::vector<std::uint32_t> hosts_with;  // by local rank: the number of hosts so far that have it
  std::vector<std::uint32_t> members_on(map.hosts.size(), 0);
  for (std::size_t h = 0; h < map.hosts.size(); ++h) {
    for (const Rank rank : map.hosts[h].ranks) {
      if (rank.value() >= map.members()) break;
      RankAssignment& a = map.ranks[rank.value()];
      ++members_on[h];
      if (hosts_with.size() <= a.local_rank.value()) hosts_with.resize(a.local_rank.value() + 1, 0);
      a.cross_rank = hosts_with[a.local_rank.value()]++;
    }
  }
  for (RankAssignment& a : map.ranks) {
    a.local_size = members_on[a.host.value()];
    if (a.part != Part::Helper) a.cross_size = hosts_with[a.local_rank.value()];
  }
}

}  // namespace

Result<JobMap> map_programs(const HostList& hosts, std::span<const ProgramShare> programs, const RankLayout& layout) {
  Mapping mapping;
  const bool job_hosts_used =
      std::any_of(programs.begin(), programs.end(), [](const ProgramShare& p) { return p.hosts.empty(); });
  if (job_hosts_used && hosts.hosts.empty()) return Error(ErrorKind::Usage, "no hosts; name at least one");
  std::vector<ProgramSlots> shared = mapping.add(job_hosts_used ? hosts.hosts : std::vector<Host>());
  std::vector<Stretch> stretches;
  Result<void> laid = layout.rankfile ? lay_by_rankfile(programs, layout, hosts, shared, mapping, stretches)
                                      : lay_by_slots(programs, layout, std::move(shared), mapping, stretches);
  if (!laid) return laid.error();
  const auto is_member = [&](const Stretch& s) { return programs[s.program].part != Part::Helper; };
  if (std::stable_partition(stretches.begin(), stretches.end(), is_member) == stretches.begin()) {
    return Error(ErrorKind::Usage, "all programs are helpers; at least one must be what they help");
  }
  JobMap map;
  map.hosts = order_hosts(std::move(mapping.hosts()), stretches);
  number_hosts(map);
  for (const ProgramShare& program : programs) map.roles.push_back(program.role);
  assign(map, programs, stretches);
  count_others(map);
  if (layout.rankfile) {
    for (std::size_t rank = 0; rank < map.world_size(); ++rank)
      map.cores.push_back(layout.rankfile->entries[rank].cores);
  }
  return map;
}

}  // namespace sml::plan
