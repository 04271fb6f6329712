#include "launcher/plan/growth.h"

#include "launcher/hosts/host_list.h"
#include "launcher/plan/regroup.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {

JobMap map_of(const char* list) {
  JobMap map = *map_job({*hosts::parse_host_list(list), "-H"}, std::nullopt, Oversubscribe::No);
  number_hosts(map);
  return map;
}

JobMap with(JobMap map, const char* list) {
  for (Host& host : *hosts::parse_host_list(list)) {
    const std::uint32_t slots = host.slots.value_or(1);
    map.hosts.push_back({.host = std::move(host), .slots = slots, .ranks = {}, .duty = HostDuty::Spare});
  }
  number_hosts(map);
  return map;
}

std::vector<HostId> all_of(const JobMap& map) {
  std::vector<HostId> out;
  for (const MappedHost& host : map.hosts) out.push_back(host.id);
  return out;
}

std::string text_of(const JobMap& map) {
  std::string out;
  for (std::uint32_t i = 0; i < map.hosts.size(); ++i) {
    if (map.hosts[i].ranks.empty()) continue;
    out += (out.empty() ? "" : " ") + map.hosts[i].host.name + ":";
    for (const Rank rank : map.hosts[i].ranks) {
      CHECK(map.ranks[rank.value()].host == HostIndex(i));
      CHECK(map.ranks[rank.value()].rank == rank);
      out += " " + std::to_string(rank.value());
    }
    out += ";";
  }
  return out;
}

}  // namespace

TEST_CASE("growth: hosts that come get ranks after all others, which keep theirs") {
  const JobMap before = with(map_of("a:2,b:2"), "c:3");
  const JobMap after = grow(before, {}, all_of(before));
  CHECK(text_of(after) == "a: 0 1; b: 2 3; c: 4 5 6;");
  CHECK(after.ranks[6].local_rank == LocalRank(2));
  CHECK(after.ranks[6].local_size == 3);
  CHECK(after.ranks[4].group_rank == 2);
  CHECK(after.ranks[4].cross_rank == 2);
  CHECK(after.ranks[0].cross_size == 3);
  CHECK(after.ranks[6].cross_size == 1);
  CHECK(after.hosts.size() == 3);
  CHECK(changes(before, after) == std::vector<std::string>{"the job goes on with 7 ranks on 3 hosts, now with c"});
}

TEST_CASE("growth: who is not ready waits on") {
  const JobMap before = with(map_of("a:1"), "b:1,c:1");
  CHECK(text_of(grow(before, {}, std::vector{HostId(2)})) == "a: 0; c: 1;");
  CHECK(text_of(grow(before, {}, {})) == "a: 0;");
  CHECK(grow(before, {}, {}).spares() == 2);
}

TEST_CASE("growth: there is an end to it, by hosts, by ranks, and for spares that are to wait") {
  const JobMap before = with(map_of("a:2"), "b:2,c:2,d:2");
  const auto grown = [&](const MostSize& most) { return text_of(grow(before, most, all_of(before))); };
  CHECK(grown({.hosts = 2}) == "a: 0 1; b: 2 3;");
  CHECK(grown({.ranks = 5}) == "a: 0 1; b: 2 3; c: 4;");
  CHECK(grown({.ranks = 1}) == "a: 0 1;");
  CHECK(grown({.ranks = 4, .per_host = 1}) == "a: 0 1; b: 2; c: 3;");
  CHECK(grown({.spares = 2}) == "a: 0 1; b: 2 3;");
  CHECK(grown({.spares = 4}) == "a: 0 1;");
}

TEST_CASE("growth: a job that has shrunk grows again, with hosts in the order of their ranks") {
  const JobMap small = *regroup(map_of("a:1,b:1,c:1"), std::vector{HostId(0)}, {.hosts = 1, .ranks = {}});
  CHECK(text_of(small) == "b: 0; c: 1;");
  JobMap back = small;
  let_back(back, {});
  const JobMap after = grow(back, {}, all_of(back));
  CHECK(text_of(after) == "b: 0; c: 1; a: 2;");
  CHECK(after.ranks[2].group_rank == 2);
  CHECK(after.places()[0] == HostIndex(2));
}

TEST_CASE("growth: jobs whose ranks somebody has placed stay as they are") {
  JobMap map = with(map_of("a:1"), "b:1");
  map.cores = {"0"};
  CHECK(grow(map, {}, all_of(map)).world_size() == 1);
  map.cores.clear();
  map.roles = {"chief"};
  CHECK(grow(map, {}, all_of(map)).world_size() == 1);
}
