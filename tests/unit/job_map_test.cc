#include "common/plan/ranks/job_map.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {
HostList host_list(const char* text) {
  auto parsed = hosts::parse_host_list(text);
  REQUIRE(parsed.has_value());
  return {*parsed, "-H"};
}

// "host rank local/size cross/size group" of each rank.
std::vector<std::string> flat(const JobMap& map) {
  std::vector<std::string> out;
  for (const RankAssignment& a : map.ranks) {
    out.push_back(map.hosts[a.host.value()].host.name + " " + std::to_string(a.rank.value()) + " " +
                  std::to_string(a.local_rank.value()) + "/" + std::to_string(a.local_size) + " " +
                  std::to_string(a.cross_rank) + "/" + std::to_string(a.cross_size) + " " +
                  std::to_string(a.group_rank));
  }
  return out;
}

// What must hold for every map, whatever it was made from.
void check_invariants(const JobMap& map) {
  std::map<std::uint32_t, std::uint32_t> next_local;
  std::map<std::uint32_t, std::set<std::uint32_t>> cross_ranks;  // by local rank
  for (std::uint32_t i = 0; i < map.world_size(); ++i) {
    const RankAssignment& a = map.ranks[i];
    CHECK(a.rank.value() == i);
    CHECK(a.local_rank.value() == next_local[a.host.value()]++);
    CHECK(a.local_size == map.hosts[a.host.value()].ranks.size());
    CHECK(a.group_rank < map.group_world_size());
    CHECK(a.cross_rank < a.cross_size);
    CHECK(cross_ranks[a.local_rank.value()].insert(a.cross_rank).second);
  }
  for (const RankAssignment& a : map.ranks) CHECK(cross_ranks[a.local_rank.value()].size() == a.cross_size);
  std::size_t ranks = 0;
  std::uint32_t next_group = 0;
  std::uint32_t first = 0;  // rank of the host before
  for (const MappedHost& host : map.hosts) {
    CHECK(std::is_sorted(host.ranks.begin(), host.ranks.end()));
    ranks += host.ranks.size();
    if (host.slots == 0) CHECK(host.ranks.empty());
    if (host.ranks.empty()) continue;
    if (next_group == 0) CHECK(host.ranks.front() == Rank(0));
    if (next_group > 0) CHECK(host.ranks.front().value() > first);
    first = host.ranks.front().value();
    CHECK(map.ranks[first].group_rank == next_group++);
  }
  CHECK(ranks == map.world_size());
}

RankLayout layout_of(const char* map_by, std::optional<RankBy> rank_by = std::nullopt) {
  const auto parsed = parse_map_by(map_by);
  REQUIRE(parsed.has_value());
  RankLayout out;
  out.map_by = parsed->map_by;
  out.per_host = parsed->per_host;
  out.oversubscribe = parsed->oversubscribe.value_or(Oversubscribe::No);
  out.rank_by = rank_by;
  return out;
}

RankLayout rankfile_layout(const char* text) {
  RankLayout out;
  const auto file = parse_rankfile(text, "r.txt");
  REQUIRE(file.has_value());
  out.rankfile = *file;
  return out;
}

// "a:0,2 b:1": the ranks of each host.
std::string by_host(const JobMap& map) {
  std::string out;
  for (const MappedHost& host : map.hosts) {
    out += (out.empty() ? "" : " ") + host.host.name + ":";
    for (const Rank rank : host.ranks) out += (rank == host.ranks.front() ? "" : ",") + std::to_string(rank.value());
  }
  return out;
}
}  // namespace

TEST_CASE("ranks are those of Horovod") {
  struct Row {
    const char* hosts;
    std::optional<std::uint32_t> np;
    std::vector<std::string> expected;
  };
  const Row rows[] = {
      {"a:1,b:2", {}, {"a 0 0/1 0/2 0", "b 1 0/2 1/2 1", "b 2 1/2 0/1 1"}},
      {"a:3,b:1,c:2",
       {},
       {"a 0 0/3 0/3 0", "a 1 1/3 0/2 0", "a 2 2/3 0/1 0", "b 3 0/1 1/3 1", "c 4 0/2 2/3 2", "c 5 1/2 1/2 2"}},
      {"a:2,b:0,c:1", {}, {"a 0 0/2 0/2 0", "a 1 1/2 0/1 0", "c 2 0/1 1/2 1"}},
      {"a:2,b:2", 3, {"a 0 0/2 0/2 0", "a 1 1/2 0/1 0", "b 2 0/1 1/2 1"}},
      {"a:2,b:2", 1, {"a 0 0/1 0/1 0"}},
      {"a:1,b:1,a:1", {}, {"a 0 0/2 0/2 0", "a 1 1/2 0/1 0", "b 2 0/1 1/2 1"}},
      {"localhost:4",
       {},
       {"localhost 0 0/4 0/1 0", "localhost 1 1/4 0/1 0", "localhost 2 2/4 0/1 0", "localhost 3 3/4 0/1 0"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.hosts);
    const auto map = map_job(host_list(row.hosts), row.np, Oversubscribe::No);
    REQUIRE(map.has_value());
    CHECK(flat(*map) == row.expected);
    check_invariants(*map);
  }
}

TEST_CASE("hosts without ranks stay in the map, and keep their index") {
  const auto map = map_job(host_list("a:0,b:1,c:1"), 1, Oversubscribe::No);
  REQUIRE(map.has_value());
  REQUIRE(map->hosts.size() == 3);
  CHECK(map->hosts[0].ranks.empty());
  CHECK(map->hosts[2].ranks.empty());
  CHECK(map->ranks[0].host == HostIndex(1));
  CHECK(map->ranks[0].group_rank == 0);
  CHECK(map->group_world_size() == 1);
}

TEST_CASE("ranks beyond the slots are dealt evenly when that is allowed") {
  struct Row {
    const char* hosts;
    std::uint32_t np;
    std::vector<std::size_t> expected;
  };
  const Row rows[] = {{"a:1,b:1", 5, {3, 2}},        {"a:4,b:1", 7, {5, 2}}, {"a:4,b:1", 6, {5, 1}},
                      {"a:1,b:0,c:1", 4, {2, 0, 2}}, {"a:2,b:2", 3, {2, 1}}, {"a:1", 100, {100}}};
  for (const Row& row : rows) {
    CAPTURE(row.hosts, row.np);
    const auto map = map_job(host_list(row.hosts), row.np, Oversubscribe::Yes);
    REQUIRE(map.has_value());
    std::vector<std::size_t> counts;
    for (const MappedHost& host : map->hosts) counts.push_back(host.ranks.size());
    CHECK(counts == row.expected);
    check_invariants(*map);
  }
}

TEST_CASE("ranks are placed as Open MPI places them") {
  struct Row {
    const char* hosts;
    std::optional<std::uint32_t> np;
    const char* map_by;
    std::optional<RankBy> rank_by;
    const char* expected;
  };
  const auto by_slot = RankBy::Slot;
  const Row rows[] = {
      {"a:4,b:4", 5, "slot", {}, "a:0,1,2,3 b:4"},
      {"a:4,b:4", 5, "host", {}, "a:0,2,4 b:1,3"},
      {"a:4,b:4", 5, "node", by_slot, "a:0,1,2 b:3,4"},
      {"a:2,b:2", {}, "slot", RankBy::Host, "a:0,2 b:1,3"},
      {"a:1,b:3,c:2", {}, "host", {}, "a:0 b:1,3,5 c:2,4"},
      {"a:1,b:0,c:2", {}, "host", {}, "a:0 b: c:1,2"},
      {"a:1,b:3", 6, "host:oversubscribe", {}, "a:0,2 b:1,3,4,5"},
      {"a:1,b:1", 5, "slot:OVERSUBSCRIBE", {}, "a:0,1,2 b:3,4"},
      {"a:4,b:4", {}, "ppr:2:host", {}, "a:0,1 b:2,3"},
      {"a:4,b:4", 3, "ppr:2:node", {}, "a:0,1 b:2"},
      {"a:4,b:0,c:4", {}, "ppr:1:host", {}, "a:0 b: c:1"},
      {"a:4,b:4", {}, "ppr:2:host", RankBy::Host, "a:0,2 b:1,3"},
      {"a:1,b:4", {}, "ppr:2:host:oversubscribe", {}, "a:0,1 b:2,3"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.hosts, row.map_by);
    const auto map = map_job(host_list(row.hosts), row.np, layout_of(row.map_by, row.rank_by));
    REQUIRE(map.has_value());
    CHECK(by_host(*map) == row.expected);
    check_invariants(*map);
  }
}

TEST_CASE("a rankfile decides alone, and rank 0's host comes first") {
  const auto layout = rankfile_layout("rank 0=c slot=0:0-1\nrank 1=a\nrank 2=+n2 slot=3\nrank 3=+n0");
  const auto map = map_job(host_list("a:2,b:2,c:2"), {}, layout);
  REQUIRE(map.has_value());
  CHECK(by_host(*map) == "c:0,2 a:1,3 b:");
  CHECK(map->cores == std::vector<std::string>{"0:0-1", "", "3", ""});
  check_invariants(*map);
  const auto fewer = map_job(host_list("a:2,b:2,c:2"), 2, layout);
  REQUIRE(fewer.has_value());
  CHECK(by_host(*fewer) == "c:0 a:1 b:");
}

TEST_CASE("a rankfile that does not fit is refused with its line") {
  const auto error_of = [](const char* hosts, std::optional<std::uint32_t> np, const char* text) {
    const auto map = map_job(host_list(hosts), np, rankfile_layout(text));
    return map.has_error() ? map.error().message() : "(accepted)";
  };
  CHECK(error_of("a:1", {}, "rank 0=a\nrank 1=b") == "r.txt:2: b is none of the job's hosts");
  CHECK(error_of("a:1", {}, "rank 0=a\n\nrank 1=+n1") ==
        "r.txt:3: there is no host +n1; the job has 1 host, from +n0 on");
  CHECK(error_of("a:1", {}, "rank 0=a\nrank 1=a") ==
        "r.txt:2: rank 1 is one more than the 1 slot of a; give the host more slots, or give --oversubscribe");
  CHECK(error_of("a:1", 2, "rank 0=a") == "-np 2 is more than the 1 rank of r.txt");
}

TEST_CASE("the words of --map-by that are not known are refused") {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"",
       "\"\" is an unknown placement; expected slot, host, socket, numa, l3, core, hwthread or "
       "ppr:N:host"},
      {"board",
       "\"board\" is an unknown placement; expected slot, host, socket, numa, l3, core, hwthread or "
       "ppr:N:host"},
      {"ppr",
       "\"ppr\" gives no number of workers for each host or part of it; expected ppr:N:host or ppr:N:socket, numa, l3, "
       "core or hwthread, N from 1 to 65536"},
      {"ppr:0:node",
       "\"ppr:0:node\" gives no number of workers for each host or part of it; expected ppr:N:host or ppr:N:socket, "
       "numa, l3, core or hwthread, N from 1 to 65536"},
      {"ppr:2:board",
       "\"ppr:2:board\" gives no number of workers for each host or part of it; expected ppr:N:host or ppr:N:socket, "
       "numa, l3, core or hwthread, N from 1 to 65536"},
      {"slot:pe=x", "\"pe=x\" is no modifier that is known; expected oversubscribe, nooversubscribe, span or pe=N"},
      {"slot:", "\"\" is no modifier that is known; expected oversubscribe, nooversubscribe, span or pe=N"},
  };
  for (const Row& row : rows) {
    const auto parsed = parse_map_by(row.text);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().message() == row.message);
  }
  CHECK(parse_map_by("Node:SPAN,PE=4,NoOversubscribe")->cores_per_rank == 4U);
}

TEST_CASE("the invariants hold for any hosts") {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    HostList list{{}, "-H"};
    std::uint32_t slots = 0;
    const auto count = 1 + random() % 8;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto s = static_cast<std::uint32_t>(random() % 5);
      slots += s;
      list.hosts.push_back({"h" + std::to_string(i), "", s});
    }
    if (slots == 0) continue;
    const bool over = random() % 2 == 0;
    const auto np = static_cast<std::uint32_t>(1 + random() % (over ? 2 * slots : slots));
    RankLayout layout;
    layout.oversubscribe = over ? Oversubscribe::Yes : Oversubscribe::No;
    layout.map_by = std::array{MapBy::Slot, MapBy::Host, MapBy::Rounds}[random() % 3];
    if (random() % 2 == 0) layout.rank_by = random() % 2 == 0 ? RankBy::Slot : RankBy::Host;
    const auto map = map_job(list, np, layout);
    REQUIRE(map.has_value());
    CHECK(map->world_size() == np);
    check_invariants(*map);
    for (const MappedHost& host : map->hosts) CHECK((over || host.ranks.size() <= host.slots));
  }
}

TEST_CASE("just so many workers on each host, or one sentence") {
  const auto error_of = [](const char* hosts, std::optional<std::uint32_t> np, const char* map_by) {
    const auto map = map_job(host_list(hosts), np, layout_of(map_by));
    return map.has_error() ? map.error().message() : "(accepted)";
  };
  CHECK(error_of("a:4,b:1", {}, "ppr:2:host") ==
        "2 workers on each host are more than the 1 slot of b; ask for fewer, give the host more slots, or give "
        "--oversubscribe");
  CHECK(error_of("a:4,b:4", 5, "ppr:2:host") == "-np 5 is more than the 4 workers that 2 on each host make");
}

TEST_CASE("what cannot be mapped is refused with one sentence") {
  struct Row {
    HostList hosts;
    std::optional<std::uint32_t> np;
    Oversubscribe oversubscribe;
    const char* message;
  };
  const Row rows[] = {
      {host_list("a:1,b:2"), 4, Oversubscribe::No,
       "-np 4 is more than the 3 slots of 2 hosts; lower -np, name more slots or hosts, or give --oversubscribe"},
      {host_list("a:1"), 2, Oversubscribe::No,
       "-np 2 is more than the 1 slot of 1 host; lower -np, name more slots or hosts, or give --oversubscribe"},
      {host_list("a:1"), 0, Oversubscribe::Yes, "-np 0 starts nothing; expected at least 1"},
      {host_list("a:0,b:0"), {}, Oversubscribe::No, "no host has a slot; give at least one host a slot, as in NAME:1"},
      {host_list("a:0"), 1, Oversubscribe::Yes, "no host has a slot; give at least one host a slot, as in NAME:1"},
      {{{}, "-H"}, 1, Oversubscribe::No, "no hosts; name at least one"},
      {host_list("a:1"), 1'000'001, Oversubscribe::Yes,
       "1000001 workers are more than a job can have; the most is 1000000"},
      {host_list("a[1-70000]:65536"),
       {},
       Oversubscribe::No,
       "4587520000 workers are more than a job can have; the most is 1000000"},
  };
  for (const Row& row : rows) {
    const auto map = map_job(row.hosts, row.np, row.oversubscribe);
    REQUIRE(map.has_error());
    CHECK(map.error().kind() == ErrorKind::Usage);
    CHECK(map.error().message() == row.message);
  }
}
