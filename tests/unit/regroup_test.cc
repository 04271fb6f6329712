#include "launcher/plan/regroup.h"

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {

// The last `spares` of the list wait.
JobMap map_of(const char* list, std::size_t spares, const RankLayout& layout = {}) {
  HostList hosts{*hosts::parse_host_list(list), "-H"};
  std::vector<Host> waiting(hosts.hosts.end() - static_cast<std::ptrdiff_t>(spares), hosts.hosts.end());
  hosts.hosts.resize(hosts.hosts.size() - spares);
  JobMap map = *map_job(hosts, std::nullopt, layout);
  for (const Host& host : waiting) map.hosts.push_back({host, *host.slots, {}, {}, HostDuty::Spare});
  number_hosts(map);
  return map;
}

std::string text_of(const JobMap& map) {
  std::string out;
  for (const MappedHost& host : map.hosts) {
    if (host.ranks.empty()) continue;
    out += (out.empty() ? "" : " ") + host.host.name + ":";
    for (const Rank rank : host.ranks) out += " " + std::to_string(rank.value());
    out += ";";
  }
  return out;
}

std::string why(const JobMap& map, const std::vector<HostId>& out, const LeastSize& least = {}) {
  const Result<JobMap> next = regroup(map, out, least);
  return next ? "" : next.error().message();
}

constexpr HostId kA{0}, kB{1}, kC{2}, kD{3}, kE{4};

}  // namespace

TEST_CASE("regroup: a host that is let back waits, and takes a place again") {
  JobMap map = *regroup(map_of("a:2,b:2,c:2", 1), std::vector{kA}, {});
  let_back(map, std::vector{kA});
  CHECK(map.spares() == 0);
  let_back(map, {});
  CHECK(map.spares() == 1);
  CHECK((*regroup(map, std::vector{kB}, {})).hosts[1].host.name == "a");
}

TEST_CASE("regroup: hosts in another order have ranks by it") {
  RankLayout by_host;
  by_host.map_by = MapBy::Host;
  const JobMap map = map_of("a:2,b:1,c:2", 0, by_host);
  CHECK(text_of(*arrange(map, std::vector{kA, kB, kC})) == text_of(map));  // as it was
  const JobMap other = *arrange(map, std::vector{kC, kA, kB});
  CHECK(text_of(other) == "c: 0 1; a: 2 3; b: 4;");
  CHECK(other.ranks[2].group_rank == 1);
  CHECK(other.ranks[2].host == HostIndex(1));
  CHECK(other.ranks[3].local_rank == LocalRank(1));
  CHECK(other.ranks[3].cross_rank == 1);
  for (const std::vector<HostId>& bad :
       {std::vector<HostId>{}, {kA, kB}, {kA, kA, kB}, {kA, kB, kD}, {kA, kB, kC, kD}}) {
    CHECK(arrange(map, bad).has_error());
  }
}

TEST_CASE("regroup: what a host computes that is told of order and idle hosts is what whoever chose them has") {
  JobMap chosen = map_of("a:2,b:2,c:2,d:2", 1);
  chosen = *regroup(chosen, std::vector{kB}, {});
  chosen = *regroup(chosen, std::vector{kB, kC}, {.hosts = 1, .ranks = {}});
  std::vector<HostId> order;
  for (const MappedHost& host : chosen.hosts) order.push_back(host.id);
  const JobMap all = map_of("a:2,b:2,c:2,d:2", 0);
  const JobMap computed = *regroup(*arrange(all, order), std::vector{kB, kC}, {.hosts = 1, .ranks = {}});
  CHECK(text_of(computed) == "a: 0 1; d: 2 3;");
  CHECK(computed.ranks == chosen.ranks);
}

TEST_CASE("regroup: a spare takes the place of a lost host, and all numbers stay") {
  const JobMap before = map_of("a:2,b:2,c:2,d:2,e:2", 1);
  for (const HostId lost : {kA, kB, kD}) {
    const JobMap after = *regroup(before, std::vector{lost}, {});
    CHECK(after.ranks == before.ranks);
    CHECK(after.hosts[lost.value()].host.name == "e");
    CHECK(after.hosts[lost.value()].id == kE);
    CHECK(after.hosts[4].id == lost);
    CHECK(after.hosts[4].duty == HostDuty::Out);
    CHECK(after.places()[lost.value()] == HostIndex(4));
    const std::string name = before.hosts[lost.value()].host.name;
    CHECK(changes(before, after) == std::vector<std::string>{"e takes the place of " + name + ", with its 2 ranks"});
  }
}

TEST_CASE("regroup: who is out stays out, and a spare that is lost takes nobody's place") {
  const JobMap first = map_of("a:1,b:1,s:1,t:1", 2);
  const JobMap second = *regroup(first, std::vector{kC, kA}, {});  // the first spare, and a host
  CHECK(text_of(second) == "t: 0; b: 1;");
  CHECK(why(second, {kC, kA, kB}) == "b is out, and no spare host is left to take its place (--spares)");
  CHECK(changes(second, *regroup(second, std::vector{kC, kA}, {})).empty());
}

TEST_CASE("regroup: a spare needs the slots, but no more of them than the host had that was oversubscribed") {
  const JobMap map = map_of("a:2,b:4,s:2", 1);
  CHECK(text_of(*regroup(map, std::vector{kA}, {})) == "s: 0 1; b: 2 3 4 5;");
  CHECK(why(map, {kB}) == "b is out, and no spare host has the slots to take its place (--spares)");
  HostList crowded{*hosts::parse_host_list("a:2,b:2"), "-H"};
  JobMap more = *map_job(crowded, 8, Oversubscribe::Yes);
  more.hosts.push_back({{.name = "s", .user = "", .slots = 2}, 2, {}, {}, HostDuty::Spare});
  number_hosts(more);
  CHECK(text_of(*regroup(more, std::vector{kA}, {})) == "s: 0 1 2 3; b: 4 5 6 7;");
}

TEST_CASE("regroup: several lost hosts need several spares") {
  const JobMap map = map_of("a:1,b:1,c:1,s:1", 1);
  CHECK(why(map, {kA, kB}) == "b is out, and no spare host is left to take its place (--spares)");
  CHECK(why(map_of("a:1,b:1,c:1", 0), {kB, kC}) ==
        "b,c are out, and no spare host is left to take their place (--spares)");
}

TEST_CASE("regroup: without a spare the world shrinks where it may, and is numbered densely") {
  const JobMap map = map_of("a:2,b:1,c:2", 0);
  const JobMap after = *regroup(map, std::vector{kB}, {.hosts = 2, .ranks = {}});
  CHECK(text_of(after) == "a: 0 1; c: 2 3;");
  CHECK(after.world_size() == 4);
  CHECK(after.group_world_size() == 2);
  const RankAssignment& last = after.ranks[3];
  CHECK(last.host == HostIndex(2));
  CHECK(last.local_rank == LocalRank(1));
  CHECK(last.local_size == 2);
  CHECK(last.group_rank == 1);
  CHECK(last.cross_rank == 1);
  CHECK(last.cross_size == 2);
  CHECK(changes(map, after) == std::vector<std::string>{"the job goes on with 4 ranks on 2 hosts, without b"});
  CHECK(why(after, {kB, kA}, {.hosts = 2, .ranks = {}}) == "a is out, and 1 host is fewer than the 2 of --min-hosts");
  CHECK(why(map, {kC}, {.hosts = {}, .ranks = 4}) == "c is out, and 3 ranks are fewer than the 4 of --min-np");
  CHECK(why(map, {kA, kB, kC}, {.hosts = {}, .ranks = 1}) != "");
}

TEST_CASE("regroup: ranks that are dealt in turn keep their order when the world shrinks") {
  RankLayout layout;
  layout.map_by = MapBy::Host;
  const JobMap map = map_of("a:2,b:2,c:2", 0, layout);
  REQUIRE(text_of(map) == "a: 0 3; b: 1 4; c: 2 5;");
  CHECK(text_of(*regroup(map, std::vector{kA}, {.hosts = 1, .ranks = {}})) == "b: 0 2; c: 1 3;");
}

TEST_CASE("regroup: a plan made anew for hosts that are one machine takes over their ids") {
  const JobMap before = map_of("a:1,b:2,c:3", 0);
  JobMap next = map_of("d:1,c:3,a:3", 0);
  const JobMap after = take_over_ids(next, before);
  REQUIRE(after.hosts.size() == 4);
  CHECK(text_of(after) == "d: 0; c: 1 2 3; a: 4 5 6;");
  CHECK(after.hosts[0].id == HostId(3));
  CHECK(after.hosts[1].id == HostId(2));
  CHECK(after.hosts[2].id == HostId(0));
  CHECK(after.hosts[3].id == HostId(1));
  CHECK(after.hosts[3].duty == HostDuty::Out);
  CHECK(after.hosts[3].ranks.empty());
  CHECK(after.group_world_size() == 3);
  CHECK(take_over_ids(before, before).hosts.size() == 3);
}

TEST_CASE("regroup: the plan of an attempt has its own map and numbers, and all else as it was planned") {
  LaunchPlan planned;
  planned.command = {"train"};
  planned.working_directory = "/work";
  planned.launcher_environment = {"A=1"};
  planned.job = {.job_id = "job-1", .max_restarts = 3, .run_id = "run", .name_space = "secret"};
  planned.map = map_of("a:2,b:2,c:2", 1);
  const std::string before = to_json(planned);
  const LaunchPlan same = for_attempt(planned, planned.map, 0, 0, "job-1");
  CHECK(to_json(same) == before);
  const LaunchPlan next = for_attempt(planned, *regroup(planned.map, std::vector{kA}, {}), 2, 1, "job-2");
  CHECK(to_json(planned) == before);
  CHECK(text_of(next.map) == "c: 0 1; b: 2 3;");
  CHECK(next.job.attempt == 2);
  CHECK(next.job.restarts == 1);
  CHECK(next.job.job_id == "job-2");
  CHECK(next.job.max_restarts == 3);
  CHECK(next.job.run_id == "run");
  CHECK(next.job.name_space == "secret");
  CHECK(next.command == planned.command);
  CHECK(next.working_directory == planned.working_directory);
  CHECK(next.launcher_environment == planned.launcher_environment);
}
