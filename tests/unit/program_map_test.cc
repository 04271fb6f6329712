#include "common/plan/ranks/program_map.h"

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {

HostList list_of(const char* text) {
  const auto hosts = hosts::parse_host_list(text);
  REQUIRE(hosts.has_value());
  return {*hosts, "-H"};
}

ProgramShare share(std::optional<std::uint32_t> np, const char* hosts = "", Part part = Part::Worker) {
  ProgramShare out{.np = np, .hosts = {}, .part = part};
  if (*hosts != '\0') out.hosts = list_of(hosts).hosts;
  return out;
}

// "a:0/0 a:1/1": the host of each rank, its local rank, and its program.
std::string text_of(const JobMap& map) {
  std::string out;
  for (const RankAssignment& a : map.ranks) {
    out += (out.empty() ? "" : " ") + map.hosts[a.host.value()].host.name + ":" + std::to_string(a.local_rank.value()) +
           "/" + std::to_string(a.program);
  }
  return out;
}

std::string mapped(const char* hosts, const std::vector<ProgramShare>& programs,
                   Oversubscribe oversubscribe = Oversubscribe::No) {
  const auto map = map_programs(list_of(hosts), programs, oversubscribe);
  return map ? text_of(*map) : map.error().message();
}

RankLayout by_rankfile(const char* text) {
  RankLayout out;
  const auto file = parse_rankfile(text, "r.txt");
  REQUIRE(file.has_value());
  out.rankfile = *file;
  return out;
}

}  // namespace

TEST_CASE("a rankfile places the ranks of all programs, those of helpers last", "[programs]") {
  const RankLayout layout = by_rankfile("rank 0=c slot=1\nrank 1=a\nrank 2=c\nrank 3=b slot=0:*");
  const auto text = [&](const std::vector<ProgramShare>& programs) {
    const auto map = map_programs(list_of("a:2,b:2,c:2"), programs, layout);
    return map ? text_of(*map) : map.error().message();
  };
  CHECK(text({share(1), share(3)}) == "c:0/0 a:0/1 c:1/1 b:0/1");
  CHECK(text({share(3), share({})}) == "c:0/0 a:0/0 c:1/0 b:0/1");
  CHECK(text({share(2), share(1)}) == "c:0/0 a:0/0 c:1/1");
  CHECK(text({share(1, "", Part::Helper), share(3)}) == "c:0/1 a:0/1 c:1/1 b:0/0");
  HostList names_one_twice = list_of("a:1,b:1");
  names_one_twice.hosts.push_back(names_one_twice.hosts.front());
  const auto twice =
      map_programs(names_one_twice, std::vector{share(1), share(1)}, by_rankfile("rank 0=+n2\nrank 1=+n1"));
  REQUIRE(twice.has_value());
  CHECK(text_of(*twice) == "a:0/0 b:0/1");
}

TEST_CASE("programs that do not fit a rankfile are refused", "[programs]") {
  const auto error_of = [](const std::vector<ProgramShare>& programs, const char* text = "rank 0=a\nrank 1=b") {
    const auto map = map_programs(list_of("a:2,b:1"), programs, by_rankfile(text));
    return map.has_error() ? map.error().message() : "(accepted)";
  };
  CHECK(error_of({share({}), share(1)}) ==
        "program 1: with --rankfile it needs -np: only the program with the last ranks does without");
  CHECK(error_of({share(1), share(1, "b")}) ==
        "program 2: --rankfile names the hosts of its workers; leave out -H here");
  CHECK(error_of({share(1), share(2)}) == "program 2: -np 2 is more than the 1 rank that r.txt has left");
  CHECK(error_of({share(2), share({})}) == "program 2: r.txt has no rank left for it");
  CHECK(error_of({share(1), share(2)}, "rank 0=b\nrank 1=b\nrank 2=a") ==
        "r.txt:2: rank 1 is one more than the 1 slot of b; give the host more slots, or give --oversubscribe");
  CHECK(error_of({share(1), share(1)}, "rank 0=a\nrank 1=x") == "r.txt:2: x is none of the job's hosts");
}

TEST_CASE("programs fill the slots of the job one after the other, and ranks run on", "[programs]") {
  CHECK(mapped("a:2,b:3", {share(1), share(4)}) == "a:0/0 a:1/1 b:0/1 b:1/1 b:2/1");
  CHECK(mapped("a:2,b:3", {share(1), share(1), share({})}) == "a:0/0 a:1/1 b:0/2 b:1/2 b:2/2");
  CHECK(mapped("a:2,b:3", {share(3)}) == "a:0/0 a:1/0 b:0/0");
}

TEST_CASE("a program with hosts of its own uses these, and slots of a host add up", "[programs]") {
  CHECK(mapped("a:1", {share(1), share(2, "b:2")}) == "a:0/0 b:0/1 b:1/1");
  CHECK(mapped("a:1", {share(1), share(1, "a:1")}) == "a:0/0 a:1/1");
  CHECK(mapped("a:1,b:1", {share(1), share({}, "c:2"), share(1)}) == "a:0/0 c:0/1 c:1/1 b:0/2");
  const auto map = map_programs(list_of("z:1,a:1"), std::vector{share(1, "a:2"), share(1)}, Oversubscribe::No);
  REQUIRE(map.has_value());
  CHECK(map->hosts.front().host.name == "a");  // where rank 0 is
  CHECK(map->hosts.front().slots == 3);
}

TEST_CASE("a host that has ranks apart counts them all", "[programs]") {
  const auto map =
      map_programs(list_of("a:1"), std::vector{share(1), share(2, "b:2"), share(1, "a:1")}, Oversubscribe::No);
  REQUIRE(map.has_value());
  CHECK(text_of(*map) == "a:0/0 b:0/1 b:1/1 a:1/2");
  CHECK(map->hosts[0].ranks == std::vector<Rank>{Rank(0), Rank(3)});
  CHECK(map->ranks[3].local_size == 2);
  CHECK(map->ranks[3].group_rank == 0);
  CHECK(map->ranks[3].cross_rank == 0);
  CHECK(map->ranks[2].cross_rank == 1);
  CHECK(map->ranks[2].cross_size == 2);
}

TEST_CASE("ranks are counted by role, over programs that share one", "[programs]") {
  std::vector programs{share(1), share(2), share(1)};
  programs[0].role = programs[2].role = "ps";
  const auto map = map_programs(list_of("a:4"), programs, Oversubscribe::No);
  REQUIRE(map.has_value());
  CHECK(map->roles == std::vector<std::string>{"ps", "default", "ps"});
  CHECK(map->ranks[3].role_rank == 1);
  CHECK(map->ranks[3].role_size == 2);
  CHECK(map->ranks[2].role_rank == 1);
  CHECK(map->ranks[1].role_rank == 0);
}

TEST_CASE("helpers take slots in their turn, and have the last ranks", "[programs]") {
  const auto map =
      map_programs(list_of("a:2,b:2"), std::vector{share(1, "", Part::Helper), share(3)}, Oversubscribe::No);
  REQUIRE(map.has_value());
  CHECK(text_of(*map) == "a:0/1 b:0/1 b:1/1 a:1/0");
  CHECK(map->world_size() == 4);
  CHECK(map->members() == 3);
  CHECK(map->ranks[0].local_size == 1);
  CHECK(map->ranks[3].part == Part::Helper);
}

TEST_CASE("programs that do not fit are named, with what there is", "[programs]") {
  CHECK(mapped("a:2,b:1", {share(2), share(2)}) ==
        "program 2: -np 2 is more than the 1 that are left of the 3 slots of 2 hosts; lower -np, name more slots or "
        "hosts, or give --oversubscribe");
  CHECK(mapped("a:2", {share({}), share({})}) ==
        "program 2: the programs before it have taken the 2 slots of 1 host; give them a lower -np, name more slots or "
        "hosts, or give --oversubscribe (a word \":\" begins another program)");
  CHECK(mapped("a:2", {share(1), share(3, "b:2")}) ==
        "program 2: -np 3 is more than the 2 slots of 1 host; lower -np, name more slots or hosts, or give "
        "--oversubscribe");
  CHECK(mapped("a:0", {share(1), share(1, "b:1")}) ==
        "program 1: no host has a slot; give at least one host a slot, as in NAME:1");
  CHECK(mapped("a:2", {share(1, "", Part::Helper)}) == "all programs are helpers; at least one must be what they help");
  CHECK(mapped("a:2", {share(1'000'000), share(1)}, Oversubscribe::Yes) ==
        "1000001 workers are more than a job can have; the most is 1000000");
}

TEST_CASE("what is beyond the slots is dealt evenly when that is allowed", "[programs]") {
  CHECK(mapped("a:1,b:1", {share(1), share(4)}, Oversubscribe::Yes) == "a:0/0 a:1/1 a:2/1 b:0/1 b:1/1");
}

TEST_CASE("each program is laid over the hosts as the user asks for it", "[programs]") {
  const auto laid = [](const char* hosts, const std::vector<ProgramShare>& programs, const RankLayout& layout) {
    const auto map = map_programs(list_of(hosts), programs, layout);
    return map ? text_of(*map) : map.error().message();
  };
  RankLayout by_host;
  by_host.map_by = MapBy::Host;
  CHECK(laid("a:2,b:3", {share(3), share(2)}, by_host) == "a:0/0 b:0/0 a:1/0 b:1/1 b:2/1");
  RankLayout numbered;
  numbered.rank_by = RankBy::Host;
  CHECK(laid("a:2,b:2,c:2", {share(1), share(5)}, numbered) == "a:0/0 a:1/1 b:0/1 c:0/1 b:1/1 c:1/1");
  RankLayout one_each;
  one_each.per_host = 1;
  CHECK(laid("a:2,b:2", {share({}), share({})}, one_each) == "a:0/0 b:0/0 a:1/1 b:1/1");
  CHECK(laid("a:2,b:2", {share(1), share({})}, one_each) == "a:0/0 a:1/1 b:0/1");
  CHECK(laid("a:2,b:2", {share({}), share(3)}, one_each) ==
        "program 2: -np 3 is more than the 2 workers that 1 on each host make");
  CHECK(laid("a:1,b:1", {share({}), share({})}, one_each) ==
        "program 2: 1 worker on each host are more than the 0 slots that a has left; ask for fewer, give the host more "
        "slots, or give --oversubscribe");
  one_each.oversubscribe = Oversubscribe::Yes;
  CHECK(laid("a:1,b:1", {share({}), share({})}, one_each) == "a:0/0 b:0/0 a:1/1 b:1/1");
}
