#include "common/plan/spawn_map.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"

namespace sml::plan {

namespace {

bool may_run_on(const SpawnProgram& program, const MappedHost& host) {
  return program.hosts.empty() ||
         std::find(program.hosts.begin(), program.hosts.end(), host.host.name) != program.hosts.end();
}

Result<void> check_hosts(const SpawnProgram& program, const JobMap& job) {
  for (const std::string& name : program.hosts) {
    const auto is_it = [&name](const MappedHost& host) { return host.host.name == name && !host.ranks.empty(); };
    if (std::any_of(job.hosts.begin(), job.hosts.end(), is_it)) continue;
    return Error(ErrorKind::Usage, "wants host \"" + show(name, 100) + "\", and no rank of the job is on such a host");
  }
  return {};
}

std::string slots_of_idle_hosts(const JobMap& job) {
  std::uint64_t idle = 0;
  for (const MappedHost& host : job.hosts) {
    if (host.ranks.empty() && host.duty == HostDuty::Work) idle += host.slots;
  }
  if (idle == 0) return {};
  return " (" + std::to_string(idle) + (idle == 1 ? " is" : " are") + " on hosts that run none, to which it cannot go)";
}

Error too_many(const SpawnProgram& program, std::uint64_t free, const JobMap& job) {
  const std::string where = program.hosts.empty() ? "the hosts that run ranks of the job" : "the hosts that it names";
  return Error(ErrorKind::Usage, "wants " + std::to_string(program.count) +
                                     (program.count == 1 ? " slot for \"" : " slots for \"") +
                                     show(program.command.front(), 100) + "\", and on " + where + " " +
                                     std::to_string(free) + (free == 1 ? " is free" : " are free") +
                                     (program.hosts.empty() ? slots_of_idle_hosts(job) : std::string()));
}

// How many ranks of a program each host gets.
Result<std::vector<std::uint32_t>> share_out(const JobMap& job, FreeSlots& room, const SpawnProgram& program,
                                             Oversubscribe oversubscribe) {
  std::vector<std::uint32_t> out(job.hosts.size());
  std::vector<std::uint32_t> takers;
  std::uint32_t left = program.count;
  for (std::uint32_t h = 0; h < job.hosts.size(); ++h) {
    if (!room[h] || !may_run_on(program, job.hosts[h])) continue;
    takers.push_back(h);
    out[h] = std::min(left, *room[h]);
    *room[h] -= out[h];
    left -= out[h];
  }
  if (left > 0 && (oversubscribe == Oversubscribe::No || takers.empty())) {
    return too_many(program, program.count - left, job);
  }
  for (std::uint32_t i = 0; i < left; ++i) ++out[takers[i % takers.size()]];
  return out;
}

Result<void> check_size(const JobMap& job, std::span<const SpawnProgram> programs) {
  std::uint64_t size = job.world_size();
  for (const SpawnProgram& program : programs) size += program.count;
  if (size <= kMaxWorldSize) return {};
  return Error(ErrorKind::Usage, "wants so many that the job would have " + std::to_string(size) +
                                     " ranks, more than " + std::to_string(kMaxWorldSize));
}

}  // namespace

Result<JobMap> map_spawn(const JobMap& job, const FreeSlots& free, std::span<const SpawnProgram> programs,
                         Oversubscribe oversubscribe) {
  if (Result<void> few = check_size(job, programs); !few) return few.error();
  FreeSlots room = free;
  std::vector<HostIndex> hosts_of;
  std::vector<std::uint32_t> program_of;
  for (std::uint32_t p = 0; p < programs.size(); ++p) {
    const SpawnProgram& program = programs[p];
    if (Result<void> known = check_hosts(program, job); !known) return known.error();
    const Result<std::vector<std::uint32_t>> shares = share_out(job, room, program, oversubscribe);
    if (!shares) return shares.error();
    for (std::uint32_t h = 0; h < shares->size(); ++h) {
      hosts_of.insert(hosts_of.end(), (*shares)[h], HostIndex(h));
      program_of.insert(program_of.end(), (*shares)[h], p);
    }
  }
  JobMap world;
  world.hosts = job.hosts;
  for (MappedHost& host : world.hosts) host.ranks.clear();
  assign_ranks(world, hosts_of);
  for (std::size_t r = 0; r < program_of.size(); ++r) world.ranks[r].program = program_of[r];
  return world;
}

void add_world(JobMap& job, const JobMap& world, std::uint32_t first_program) {
  for (RankAssignment rank : world.ranks) {
    MappedHost& host = job.hosts[rank.host.value()];
    rank.rank = Rank(job.world_size());
    rank.local_rank = LocalRank(static_cast<std::uint32_t>(host.ranks.size()));
    rank.program += first_program;
    host.ranks.push_back(rank.rank);
    job.ranks.push_back(rank);
    if (!job.cores.empty()) job.cores.emplace_back();
    ++job.spawned;
  }
}

}  // namespace sml::plan
