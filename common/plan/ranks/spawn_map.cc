#include "common/plan/ranks/spawn_map.h"

#include <algorithm>
#include <numeric>
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
    const auto is_it = [&name](const MappedHost& host) { return host.host.name == name; };
    if (std::any_of(job.hosts.begin(), job.hosts.end(), is_it)) continue;
    return Error(ErrorKind::Usage, "wants host \"" + show(name, 100) + "\", which the job does not have");
  }
  return {};
}

Error too_many(const SpawnProgram& program, std::uint32_t count, std::uint64_t free) {
  return Error(ErrorKind::Usage, "wants " + std::to_string(count) + (count == 1 ? " slot for \"" : " slots for \"") +
                                     show(program.command.front(), 100) + "\", and on the hosts " +
                                     (program.hosts.empty() ? "of the job " : "that it names ") + std::to_string(free) +
                                     (free == 1 ? " is free" : " are free"));
}

// Takes free slots; returns the number of ranks that are left for other hosts.
std::uint32_t fill(FreeSlots& slots, const std::vector<bool>& may_run, std::uint32_t left,
                   std::vector<std::uint32_t>& shares) {
  for (std::size_t h = 0; h < shares.size(); ++h) {
    if (!slots[h] || !may_run[h]) continue;
    const std::uint32_t taken = std::min(left, *slots[h]);
    *slots[h] -= taken;
    shares[h] += taken;
    left -= taken;
  }
  return left;
}

std::vector<bool> hosts_for(const SpawnProgram& program, const JobMap& job) {
  std::vector<bool> out;
  for (const MappedHost& host : job.hosts) out.push_back(may_run_on(program, host));
  return out;
}

// The number of ranks to start. Without free slots for an allowed count it is the largest one.
std::uint32_t count_for(const SpawnProgram& program, const SpawnRoom& room, const std::vector<bool>& may_run,
                        Oversubscribe oversubscribe) {
  if (program.allowed.empty()) return program.count;
  const std::uint32_t largest = largest_allowed(program.allowed, program.count).value_or(program.count);
  if (oversubscribe == Oversubscribe::Yes) return largest;
  std::uint64_t free = 0;
  for (std::size_t h = 0; h < may_run.size(); ++h) {
    if (may_run[h]) free += std::uint64_t{room.running[h].value_or(0)} + room.idle[h].value_or(0);
  }
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(free, program.count));
  return largest_allowed(program.allowed, most).value_or(largest);
}

// The number of ranks of a program on each host.
Result<std::vector<std::uint32_t>> share_out(const JobMap& job, SpawnRoom& room, const SpawnProgram& program,
                                             Oversubscribe oversubscribe) {
  std::vector<std::uint32_t> out(job.hosts.size());
  const std::vector<bool> may_run = hosts_for(program, job);
  const std::uint32_t count = count_for(program, room, may_run, oversubscribe);
  const std::uint32_t rest = fill(room.running, may_run, count, out);
  const std::uint32_t left = fill(room.idle, may_run, rest, out);
  std::vector<std::uint32_t> takers;
  for (std::uint32_t h = 0; h < job.hosts.size(); ++h) {
    if (may_run[h] && (room.running[h] || room.idle[h])) takers.push_back(h);
  }
  if (left > 0 && (oversubscribe == Oversubscribe::No || takers.empty())) {
    return too_many(program, count, count - left);
  }
  for (std::uint32_t i = 0; i < left; ++i) ++out[takers[i % takers.size()]];
  return out;
}

// The same for all programs. Hosts that take fewer come last.
Result<std::vector<std::vector<std::uint32_t>>> share_out_all(const JobMap& job, SpawnRoom room,
                                                              std::span<const SpawnProgram> programs,
                                                              Oversubscribe oversubscribe) {
  std::vector<std::size_t> order(programs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](std::size_t p) { return programs[p].allowed.empty(); });
  std::vector<std::vector<std::uint32_t>> out(programs.size());
  for (const std::size_t p : order) {
    if (Result<void> known = check_hosts(programs[p], job); !known) return known.error();
    Result<std::vector<std::uint32_t>> shares = share_out(job, room, programs[p], oversubscribe);
    if (!shares) return shares.error();
    out[p] = std::move(*shares);
  }
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

Result<JobMap> map_spawn(const JobMap& job, const SpawnRoom& room, std::span<const SpawnProgram> programs,
                         Oversubscribe oversubscribe) {
  if (Result<void> few = check_size(job, programs); !few) return few.error();
  const Result<std::vector<std::vector<std::uint32_t>>> shares = share_out_all(job, room, programs, oversubscribe);
  if (!shares) return shares.error();
  std::vector<HostIndex> hosts_of;
  std::vector<std::uint32_t> program_of;
  for (std::uint32_t p = 0; p < programs.size(); ++p) {
    for (std::uint32_t h = 0; h < (*shares)[p].size(); ++h) {
      hosts_of.insert(hosts_of.end(), (*shares)[p][h], HostIndex(h));
      program_of.insert(program_of.end(), (*shares)[p][h], p);
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
