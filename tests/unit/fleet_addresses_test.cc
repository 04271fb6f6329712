#include "launcher/fleet/addresses.h"

#include <cerrno>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::fleet;

namespace {

constexpr int kReached = 0;
const std::vector<std::string> kCandidates = {"10.0.0.1", "192.168.1.1", "fd00::1"};

HostProbe probe(std::uint32_t host, std::vector<int> errnos, const std::vector<std::string>& candidates = kCandidates) {
  HostProbe out{HostIndex(host), {}};
  for (std::size_t i = 0; i < errnos.size(); ++i) out.results.push_back({candidates[i], errnos[i]});
  return out;
}

ChosenAddress choose(const std::vector<HostProbe>& probes, const std::vector<std::string>& candidates = kCandidates) {
  return choose_address(candidates, probes, "algo-1", 29500);
}

std::vector<std::uint32_t> hosts_of(const ChosenAddress& chosen) {
  std::vector<std::uint32_t> out;
  for (const ProbeFault& fault : chosen.faults) out.push_back(fault.index.value());
  return out;
}

}  // namespace

TEST_CASE("the first address that every host has reached is taken") {
  CHECK(choose({probe(1, {kReached, kReached, kReached})}).address == "10.0.0.1");
  CHECK(choose({probe(1, {ECONNREFUSED, kReached, kReached}), probe(2, {kReached, kReached, kReached})}).address ==
        "192.168.1.1");
  CHECK(choose({probe(1, {ETIMEDOUT, kReached, kReached}), probe(2, {kReached, EHOSTUNREACH, kReached})}).address ==
        "fd00::1");
  CHECK(choose({probe(1, {kReached, kReached, kReached})}).faults.empty());
}

TEST_CASE("the order is that of the candidates, not of the answers") {
  HostProbe shuffled{HostIndex(1), {{"fd00::1", kReached}, {"192.168.1.1", kReached}, {"10.0.0.1", ECONNREFUSED}}};
  CHECK(choose({shuffled}).address == "192.168.1.1");
}

TEST_CASE("an address that a host did not try is not reached") {
  CHECK(choose({probe(1, {kReached, kReached, kReached}), HostProbe{HostIndex(2), {{"192.168.1.1", kReached}}}})
            .address == "192.168.1.1");
}

TEST_CASE("answers about addresses that nobody asked for are ignored") {
  HostProbe strange{HostIndex(1), {{"6.6.6.6", kReached}, {"fd00::1", kReached}}};
  CHECK(choose({strange}).address == "fd00::1");
}

TEST_CASE("a host that reaches none is at fault, with what became of each") {
  const ChosenAddress chosen =
      choose({probe(1, {kReached, kReached, kReached}), probe(2, {ETIMEDOUT, ECONNREFUSED, ENETUNREACH})});
  CHECK(chosen.address.empty());
  REQUIRE(hosts_of(chosen) == std::vector<std::uint32_t>{2});
  const Error& why = chosen.faults[0].why;
  CHECK(why.kind() == ErrorKind::Connect);
  CHECK(why.message() ==
        "cannot reach rank 0 on algo-1 (10.0.0.1 port 29500: connection timed out; 192.168.1.1 port 29500: connection "
        "refused; fd00::1 port 29500: network is unreachable)");
  CHECK(why.hint().find("firewalls") != std::string::npos);
}

TEST_CASE("hosts that reach some address are not blamed while one reaches none") {
  const ChosenAddress chosen =
      choose({probe(1, {kReached, ETIMEDOUT, ETIMEDOUT}), probe(2, {ETIMEDOUT, ETIMEDOUT, ETIMEDOUT}),
              probe(3, {ETIMEDOUT, kReached, ETIMEDOUT})});
  CHECK(chosen.address.empty());
  CHECK(hosts_of(chosen) == std::vector<std::uint32_t>{2});
}

TEST_CASE("when all reach some but none is common, those that miss the most popular one are at fault") {
  const ChosenAddress chosen =
      choose({probe(1, {ETIMEDOUT, kReached, ETIMEDOUT}), probe(2, {kReached, ETIMEDOUT, ETIMEDOUT}),
              probe(3, {ETIMEDOUT, kReached, ETIMEDOUT})});
  CHECK(chosen.address.empty());
  REQUIRE(hosts_of(chosen) == std::vector<std::uint32_t>{2});
  CHECK(chosen.faults[0].why.message().find("192.168.1.1") != std::string::npos);
}

TEST_CASE("all hosts behind the same wall are all at fault, in words that fold") {
  const ChosenAddress chosen =
      choose({probe(1, {ETIMEDOUT, ETIMEDOUT, ETIMEDOUT}), probe(2, {ETIMEDOUT, ETIMEDOUT, ETIMEDOUT})});
  CHECK(hosts_of(chosen) == std::vector<std::uint32_t>{1, 2});
  REQUIRE(chosen.faults.size() == 2);
  CHECK(chosen.faults[0].why == chosen.faults[1].why);
}

TEST_CASE("a host of rank 0 without any address") {
  const ChosenAddress chosen = choose({HostProbe{HostIndex(1), {}}}, {});
  CHECK(chosen.address.empty());
  REQUIRE(hosts_of(chosen) == std::vector<std::uint32_t>{1});
  CHECK(chosen.faults[0].why.message() == "cannot reach rank 0 on algo-1 (no address is known)");
}

namespace {

HostAddresses known(const char* local, const char* peer, std::vector<std::string> own) {
  HostAddresses out;
  out.local = local;
  out.peer = peer;
  out.own = std::move(own);
  return out;
}

}  // namespace

TEST_CASE("the others try what connections have proved, then what the agent sees") {
  const HostAddresses remote = known("", "10.0.0.1", {"192.168.1.1", "10.0.0.1"});
  const std::vector<std::string> locals{"", "10.0.0.99"};
  CHECK(addresses_of_first(remote, locals) == std::vector<std::string>{"10.0.0.1", "192.168.1.1"});
  HostAddresses here = known("", "", {"172.17.0.1", "10.0.0.99"});
  here.here = OnThisMachine::Yes;
  CHECK(addresses_of_first(here, locals) == std::vector<std::string>{"10.0.0.99", "172.17.0.1"});
  const HostAddresses unknown = known("", "", {"10.0.0.1"});  // reached by a command that does not say how
  CHECK(addresses_of_first(unknown, locals) == std::vector<std::string>{"10.0.0.1"});
}

TEST_CASE("the user's address or interfaces have more say") {
  HostAddresses first = known("", "10.0.0.1", {"10.0.0.1"});
  CHECK(candidate_addresses("", first, {}) == std::vector<std::string>{"10.0.0.1"});
  first.chosen = {"192.168.1.1", "fd00::1"};
  CHECK(candidate_addresses("", first, {}) == first.chosen);
  CHECK(candidate_addresses("1.2.3.4", first, {}) == std::vector<std::string>{"1.2.3.4"});
  CHECK(likely_address(first) == "192.168.1.1");
  first.chosen.clear();
  CHECK(likely_address(first) == "10.0.0.1");
  CHECK(likely_address(HostAddresses{}).empty());
}

TEST_CASE("each caller is vouched for by the host whose address it shows") {
  std::vector<HostAddresses> hosts(3);
  hosts[0].own = {"10.0.0.1", "172.17.0.1"};
  hosts[1].peer = "10.0.0.2";
  hosts[1].own = {"10.0.0.2", "172.17.0.1"};
  hosts[2].peer = "192.0.2.3";
  hosts[2].own = {"10.0.0.3"};
  const auto caller = [](std::uint32_t id, std::string address) {
    return wire::Caller{id, std::move(address), 40000, "10.0.0.1", 29500};
  };
  const std::vector<wire::Caller> callers{caller(1, "10.0.0.2"), caller(2, "192.0.2.3"),  caller(3, "10.0.0.3"),
                                          caller(4, "10.9.9.9"), caller(5, "172.17.0.1"), caller(6, "10.0.0.2")};
  const OwnershipChecks plan = plan_ownership_checks(callers, hosts);
  const auto ids = [&](std::size_t host) {
    std::vector<std::uint32_t> out;
    if (!plan.by_host.contains(host)) return out;
    for (const wire::Caller& one : plan.by_host.at(host).callers) out.push_back(one.id);
    return out;
  };
  CHECK(ids(0) == std::vector<std::uint32_t>{5});
  CHECK(ids(1) == std::vector<std::uint32_t>{1, 6});
  CHECK(ids(2) == std::vector<std::uint32_t>{2, 3});
  REQUIRE(plan.nobody.verdicts.size() == 1);
  CHECK(plan.nobody.verdicts[0].id == 4);
  CHECK(plan.nobody.verdicts[0].is_ours == wire::PeerOwnership::Unknown);
}

TEST_CASE("of what a host tells of its addresses, only those are believed that it can have, and not many") {
  const std::vector<std::string> told{
      "127.0.0.1",       "10.0.0.1", "::1", "224.0.0.1",    "255.255.255.255",  "0.0.0.0", "::",         "ff02::1",
      "169.254.169.254", "nonsense", "",    "10.0.0.1\x1b", "::ffff:127.0.0.1", "fd00::1", "169.254.3.4"};
  CHECK(believable_addresses(told, OnThisMachine::No) ==
        std::vector<std::string>{"10.0.0.1", "fd00::1", "169.254.3.4"});
  CHECK(believable_addresses(std::vector<std::string>{"127.0.0.1"}, OnThisMachine::Yes).size() == 1);
  std::vector<std::string> many;
  for (int i = 0; i < 3000; ++i) many.push_back("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250));
  CHECK(believable_addresses(many, OnThisMachine::No).size() == 64);
  HostAddresses first;
  first.own = many;
  CHECK(candidate_addresses("", first, {}).size() == kMostTried);
  first.chosen = many;
  CHECK(candidate_addresses("", first, {}).size() == kMostTried);
}
