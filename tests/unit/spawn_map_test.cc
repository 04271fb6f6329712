#include "common/plan/ranks/spawn_map.h"

#include "common/plan/ranks/job_shape.h"
#include "tests/support/catch.h"

using namespace sml;
using plan::JobMap;
using plan::SpawnProgram;

namespace {

// Three hosts of four slots; ranks 0 and 1 on a, 2 on b.
JobMap job() {
  plan::HostList list;
  for (const char* name : {"a", "b", "c"}) list.hosts.push_back({.name = name, .user = {}, .slots = 4});
  JobMap map = *plan::map_job(list, 2, plan::Oversubscribe::No);
  map.hosts[1].ranks.emplace_back(2);
  map.ranks.push_back({Rank(2), HostIndex(1), LocalRank(0), 1, 1, 0, 2});
  return map;
}

const plan::SpawnRoom kRunning{{2, 3, std::nullopt}, plan::FreeSlots(3)};
const plan::SpawnRoom kAll{kRunning.running, {std::nullopt, std::nullopt, 4}};
constexpr auto kNo = plan::Oversubscribe::No;

SpawnProgram program(std::uint32_t count, std::vector<std::string> hosts = {}) {
  return {.command = {"child"}, .count = count, .hosts = std::move(hosts)};
}

std::vector<std::uint32_t> hosts_of(const JobMap& map) {
  std::vector<std::uint32_t> out;
  for (const plan::RankAssignment& rank : map.ranks) out.push_back(rank.host.value());
  return out;
}

std::string refusal(const std::vector<SpawnProgram>& programs, const plan::SpawnRoom& room = kRunning) {
  const Result<JobMap> world = plan::map_spawn(job(), room, programs, kNo);
  REQUIRE_FALSE(world.has_value());
  return world.error().message();
}

}  // namespace

TEST_CASE("spawned ranks fill the free slots host after host, and are a world of their own") {
  const std::vector<SpawnProgram> programs{program(3), program(1)};
  const Result<JobMap> world = plan::map_spawn(job(), kRunning, programs, kNo);
  REQUIRE(world.has_value());
  CHECK(hosts_of(*world) == std::vector<std::uint32_t>{0, 0, 1, 1});
  CHECK(world->members() == 4);
  CHECK(world->ranks[3].program == 1);
  CHECK(world->ranks[3].local_rank == LocalRank(1));
  CHECK(world->ranks[3].local_size == 2);
  CHECK(plan::process_mapping(plan::shape_of(*world), 100) == "(vector,(0,2,2))");
}

TEST_CASE("the largest allowed number of ranks for which there is room is started") {
  const auto counts = [](std::vector<SpawnProgram> programs, plan::Oversubscribe oversubscribe = kNo) {
    const Result<JobMap> world = plan::map_spawn(job(), kRunning, programs, oversubscribe);
    std::vector<std::uint32_t> out(programs.size());
    if (world) {
      for (const plan::RankAssignment& rank : world->ranks) ++out[rank.program];
    }
    return out;
  };
  const auto soft = [](const char* allowed, std::uint32_t most, std::vector<std::string> hosts = {}) {
    SpawnProgram out = program(most, std::move(hosts));
    out.allowed = *plan::parse_allowed_counts(allowed);
    return out;
  };
  using Counts = std::vector<std::uint32_t>;
  CHECK(counts({soft("1:16", 16)}) == Counts{5});
  CHECK(counts({soft("1:16", 4)}) == Counts{4});
  CHECK(counts({soft("2,4,8", 16)}) == Counts{4});
  CHECK(counts({soft("1:16", 16, {"a"})}) == Counts{2});
  CHECK(counts({soft("1:16", 16)}, plan::Oversubscribe::Yes) == Counts{16});
  CHECK(counts({soft("1:3", 16), soft("1:3", 16)}) == Counts{3, 2});
  CHECK(counts({soft("1:16", 16), program(4)}) == Counts{1, 4});  // what is not soft comes first
  CHECK(refusal({soft("8,6", 16)}) == "wants 8 slots for \"child\", and on the hosts of the job 5 are free");
}

TEST_CASE("a program that names hosts runs on these alone") {
  const Result<JobMap> world = plan::map_spawn(job(), kRunning, std::vector{program(2, {"b"}), program(2)}, kNo);
  REQUIRE(world.has_value());
  CHECK(hosts_of(*world) == std::vector<std::uint32_t>{1, 1, 0, 0});
  CHECK(refusal({program(4, {"b"})}) == "wants 4 slots for \"child\", and on the hosts that it names 3 are free");
  CHECK(refusal({program(1, {"d"})}) == "wants host \"d\", which the job does not have");
  CHECK(refusal({program(1, {"c"})}) == "wants 1 slot for \"child\", and on the hosts that it names 0 are free");
}

TEST_CASE("where slots are missing nothing is spawned, and the numbers are named") {
  CHECK(refusal({program(6)}) == "wants 6 slots for \"child\", and on the hosts of the job 5 are free");
  CHECK(refusal({program(10)}, kAll) == "wants 10 slots for \"child\", and on the hosts of the job 9 are free");
  CHECK(refusal({program(4, {"a", "b"}), program(2, {"a", "b"})}) ==
        "wants 2 slots for \"child\", and on the hosts that it names 1 is free");
  CHECK(refusal({program(1), program(plan::kMaxWorldSize)}) ==
        "wants so many that the job would have 1000004 ranks, more than 1000000");
}

TEST_CASE("spawned ranks go to hosts that run none where the others are full, or where these are named") {
  const auto hosts_for = [](const std::vector<SpawnProgram>& programs) {
    return hosts_of(*plan::map_spawn(job(), kAll, programs, kNo));
  };
  CHECK(hosts_for({program(5)}) == std::vector<std::uint32_t>{0, 0, 1, 1, 1});
  CHECK(hosts_for({program(7)}) == std::vector<std::uint32_t>{0, 0, 1, 1, 1, 2, 2});
  CHECK(hosts_for({program(1, {"c"}), program(6)}) == std::vector<std::uint32_t>{2, 0, 0, 1, 1, 1, 2});
  const plan::SpawnRoom first_is_idle{{std::nullopt, 3, 4}, {4, std::nullopt, std::nullopt}};
  const JobMap world = *plan::map_spawn(job(), first_is_idle, std::vector{program(8)}, kNo);
  CHECK(hosts_of(world) == std::vector<std::uint32_t>{0, 1, 1, 1, 2, 2, 2, 2});
}

TEST_CASE("spawned ranks beyond the slots are dealt evenly where that is allowed") {
  const auto hosts_for = [](const std::vector<SpawnProgram>& programs) {
    return hosts_of(*plan::map_spawn(job(), kRunning, programs, plan::Oversubscribe::Yes));
  };
  CHECK(hosts_for({program(8)}) == std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(hosts_for({program(5), program(3, {"b"})}) == std::vector<std::uint32_t>{0, 0, 1, 1, 1, 1, 1, 1});
  const std::vector<SpawnProgram> on_idle{program(1, {"c"})};
  CHECK_FALSE(plan::map_spawn(job(), kRunning, on_idle, plan::Oversubscribe::Yes).has_value());
  const std::vector<SpawnProgram> many{program(12)};
  CHECK(hosts_of(*plan::map_spawn(job(), kAll, many, plan::Oversubscribe::Yes)) ==
        std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2});
}

TEST_CASE("spawned ranks follow those of the job, and are no members of its world") {
  JobMap map = job();
  map.helpers = 1;
  map.cores.resize(3);
  const JobMap world = *plan::map_spawn(map, kRunning, std::vector{program(3)}, kNo);
  plan::add_world(map, world, 5);
  plan::add_world(map, *plan::map_spawn(map, {{0, 1, 0}, plan::FreeSlots(3)}, std::vector{program(1)}, kNo), 6);
  CHECK(map.world_size() == 7);
  CHECK(map.members() == 2);
  CHECK(map.hosts[0].ranks == std::vector{Rank(0), Rank(1), Rank(3), Rank(4)});
  CHECK(map.hosts[1].ranks == std::vector{Rank(2), Rank(5), Rank(6)});
  CHECK(map.ranks[5].rank == Rank(5));
  CHECK(map.ranks[5].local_rank == LocalRank(1));
  CHECK(map.ranks[5].program == 5);
  CHECK(map.ranks[6].program == 6);
  CHECK(map.cores.size() == 7);
}
