#include "launcher/inputs/hosts/host_shares.h"

#include "tests/support/catch.h"

using namespace sml;
using plan::HostShares;

namespace {

plan::HostList hosts(std::size_t count) {
  plan::HostList list{{}, "--nnodes"};
  for (std::size_t i = 0; i < count; ++i) list.hosts.push_back({"host-" + std::to_string(i), "", 1});
  return list;
}

}  // namespace

// torch/distributed/elastic/agent/server/api.py, _assign_worker_ranks()
TEST_CASE("hosts that each say their slots and role are numbered as torch's agents number them") {
  const HostShares shares{{2, "trainer"}, {1, "reader"}, {3, "trainer"}};
  CHECK(roles_differ(shares));
  plan::HostList list = hosts(3);
  REQUIRE(take_shares(list, shares).has_value());
  const auto map = plan::map_programs(list, programs_by_host(list, shares), plan::Oversubscribe::No);
  REQUIRE(map.has_value());
  std::vector<std::string> rows;
  for (const plan::RankAssignment& a : map->ranks) {
    rows.push_back(std::to_string(a.rank.value()) + " of host " + std::to_string(a.group_rank) + ": " +
                   std::to_string(a.local_rank.value()) + "/" + std::to_string(a.local_size) + ", " +
                   map->roles[a.program] + " " + std::to_string(a.role_rank) + "/" + std::to_string(a.role_size));
  }
  CHECK(rows == std::vector<std::string>{"0 of host 0: 0/2, trainer 0/5", "1 of host 0: 1/2, trainer 1/5",
                                         "2 of host 1: 0/1, reader 0/1", "3 of host 2: 0/3, trainer 2/5",
                                         "4 of host 2: 1/3, trainer 3/5", "5 of host 2: 2/3, trainer 4/5"});
}

TEST_CASE("what hosts say of themselves is of as many hosts, and can be") {
  plan::HostList list = hosts(2);
  CHECK(take_shares(list, {}).has_value());
  CHECK(list.hosts == hosts(2).hosts);
  CHECK(take_shares(list, {{2, "default"}, {4, "default"}}).has_value());
  CHECK(list.hosts[1].slots == 4U);
  CHECK_FALSE(roles_differ({{2, "default"}, {4, "default"}}));
  for (const HostShares& bad : {HostShares{{2, "a"}}, HostShares{{0, "a"}, {1, "a"}},
                                HostShares{{1, "a"}, {plan::kMaxSlotsPerHost + 1, "a"}}}) {
    CHECK(take_shares(list, bad).error().message() == "a host claims a number of workers that it cannot have");
  }
}
