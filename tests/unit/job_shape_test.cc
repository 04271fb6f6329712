#include "common/plan/ranks/job_shape.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {

JobMap map_of(const std::vector<std::uint32_t>& slots, std::optional<std::uint32_t> np = std::nullopt) {
  HostList list;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    list.hosts.push_back({.name = "h" + std::to_string(i), .user = {}, .slots = slots[i]});
  }
  return *map_job(list, np, Oversubscribe::No);
}

using Runs = std::vector<RankRun>;

}  // namespace

TEST_CASE("a job's shape has a run for each host that is filled at once") {
  const JobShape shape = shape_of(map_of({2, 3}));
  CHECK(shape.hosts == NameRuns{"h0", "h1"});
  CHECK(shape.runs() == Runs{{0, 0, 2}, {1, 0, 3}});
  CHECK(shape.size() == 5);
  CHECK(shape.slots == 5);
}

TEST_CASE("a job's shape leaves out hosts without members, and counts their slots") {
  const JobShape shape = shape_of(map_of({2, 2, 2}, 3));
  CHECK(shape.hosts == NameRuns{"h0", "h1"});
  CHECK(shape.runs() == Runs{{0, 0, 2}, {1, 0, 1}});
  CHECK(shape.slots == 6);
  CHECK(shape.universe == 6);
  JobMap with_spare = map_of({2, 2, 2}, 3);
  with_spare.hosts[2].duty = HostDuty::Spare;
  CHECK(shape_of(with_spare).universe == 4);  // it is there for other ranks

  JobMap with_helper = map_of({1, 1});
  with_helper.helpers = 1;
  CHECK(shape_of(with_helper).hosts == NameRuns{"h0"});
  CHECK(shape_of(with_helper).size() == 1);
}

TEST_CASE("a job's shape begins a run with each other host or program") {
  JobMap map = map_of({2, 2});
  map.ranks[1].host = HostIndex(1);  // dealt round the hosts
  map.ranks[2].host = HostIndex(0);
  map.ranks[3].program = 1;
  const JobShape shape = shape_of(map);
  CHECK(shape.runs() == Runs{{0, 0, 1}, {1, 0, 1}, {0, 0, 1}, {1, 1, 1}});
  CHECK(shape.run_of(Rank(0))->host == 0);
  CHECK(shape.run_of(Rank(3))->program == 1);
  CHECK(shape.run_of(Rank(4)) == std::nullopt);
}

TEST_CASE("a shape that counts more ranks than a job can have has no size") {
  const JobShape shape{{"a"}, {{{0, 0, 0xffffffff}}, {{0, 0, 0xffffffff}}}, 1};
  CHECK(shape.size() == 0);
  CHECK(shape.runs().empty());
  CHECK(JobShape{{"a"}, {{{0, 0, 2}, 0xffffffff}}, 1}.runs().empty());
}

TEST_CASE("a job's shape is short for thousands of hosts") {
  const std::vector<std::uint32_t> slots(4096, 8);
  const JobShape shape = shape_of(map_of(slots));
  CHECK(shape.blocks == std::vector<RankBlock>{{{0, 0, 8}, 4096}});
  CHECK(shape.size() == 32768);
  CHECK(shape.runs().back() == RankRun{4095, 0, 8});
  CHECK(shape.run_of(Rank(32767)) == RankRun{4095, 0, 8});
  CHECK(shape.run_of(Rank(32768)) == std::nullopt);
}

namespace {

// As MPICH reads it: the blocks in turn, and again, until all ranks have their host.
std::vector<std::uint32_t> read_mapping(const std::string& text, std::size_t size) {
  std::vector<std::array<std::uint32_t, 3>> blocks;
  for (std::size_t at = text.find('(', 1); at != std::string::npos; at = text.find('(', at + 1)) {
    std::array<std::uint32_t, 3> block{};
    REQUIRE(std::sscanf(text.c_str() + at, "(%u,%u,%u)", &block[0], &block[1], &block[2]) == 3);
    blocks.push_back(block);
  }
  std::vector<std::uint32_t> out;
  while (out.size() < size) {
    for (const auto& [first, hosts, ranks] : blocks) {
      for (std::uint32_t i = 0; i < hosts * ranks && out.size() < size; ++i) out.push_back(first + i / ranks);
    }
  }
  return out;
}

std::vector<std::uint32_t> by_first_rank(const std::vector<std::uint32_t>& hosts_of_ranks) {
  std::vector<std::uint32_t> known, out;
  for (const std::uint32_t host : hosts_of_ranks) {
    const auto at = std::find(known.begin(), known.end(), host);
    out.push_back(static_cast<std::uint32_t>(at - known.begin()));
    if (at == known.end()) known.push_back(host);
  }
  return out;
}

JobShape shape_with(const std::vector<std::uint32_t>& hosts_of_ranks) {
  JobShape out;
  for (const std::uint32_t host : hosts_of_ranks) out.add({host, 0, 1});
  return out;
}

}  // namespace

TEST_CASE("PMI's mapping is short for what is usual") {
  CHECK(process_mapping(shape_of(map_of({8, 8})), 1000) == "(vector,(0,2,8))");
  CHECK(process_mapping(shape_of(map_of({8, 4})), 1000) == "(vector,(0,1,8),(1,1,4))");
  CHECK(process_mapping(shape_of(map_of({2, 2, 2}, 5)), 1000) == "(vector,(0,2,2),(2,1,1))");
  CHECK(process_mapping(shape_with({0, 1, 0, 1}), 1000) == "(vector,(0,2,1))");
  CHECK(process_mapping(shape_with({0, 1, 2, 0, 1, 2, 0}), 1000) == "(vector,(0,3,1))");
  CHECK(process_mapping(shape_with({0, 0, 1, 1, 0, 0, 1}), 1000) == "(vector,(0,2,2))");
  CHECK(process_mapping(shape_with({1, 0, 0, 1}), 1000) == "(vector,(0,1,1),(1,1,2))");
}

TEST_CASE("PMI's mapping says of every rank where it is") {
  std::uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    const auto random = [&state](std::uint32_t below) {
      return (state = state * 1664525 + 1013904223) / 65536 % below;
    };
    const std::uint32_t size = 1 + random(24), most = 1 + random(4);
    std::vector<std::uint32_t> hosts{random(most)};
    while (hosts.size() < size) hosts.push_back(random(3) == 0 ? hosts.back() : random(most));
    const std::string text = process_mapping(shape_with(hosts), 1000);
    CAPTURE(text);
    CHECK(read_mapping(text, size) == by_first_rank(hosts));
    CHECK(text.starts_with("(vector,(0,"));  // where MPICH 5 begins again
  }
}

TEST_CASE("a mapping that is too long for PMI is left out") {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t i = 0; i < 500; ++i) hosts.push_back(i * 2654435761U % 7919 % 7);
  CHECK(process_mapping(shape_with(hosts), 900).empty());
}
