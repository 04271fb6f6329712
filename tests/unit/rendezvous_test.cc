#include "launcher/job/rendezvous.h"

#include <cerrno>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::job;

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
  const HostAddresses other = known("10.0.0.99", "10.0.0.2", {"10.0.0.2"});
  CHECK(addresses_of_first(std::vector{remote, other}) == std::vector<std::string>{"10.0.0.1", "192.168.1.1"});
  HostAddresses here = known("", "", {"172.17.0.1", "10.0.0.99"});
  here.here = OnThisMachine::Yes;
  CHECK(addresses_of_first(std::vector{here, other}) == std::vector<std::string>{"10.0.0.99", "172.17.0.1"});
  const HostAddresses unknown = known("", "", {"10.0.0.1"});  // reached by a command that does not say how
  CHECK(addresses_of_first(std::vector{unknown, other}) == std::vector<std::string>{"10.0.0.1"});
}

TEST_CASE("the user's address or interfaces have more say") {
  HostAddresses first = known("", "10.0.0.1", {"10.0.0.1"});
  CHECK(candidate_addresses("", std::vector{first}) == std::vector<std::string>{"10.0.0.1"});
  first.chosen = {"192.168.1.1", "fd00::1"};
  CHECK(candidate_addresses("", std::vector{first}) == first.chosen);
  CHECK(candidate_addresses("1.2.3.4", std::vector{first}) == std::vector<std::string>{"1.2.3.4"});
  CHECK(likely_address(first) == "192.168.1.1");
  first.chosen.clear();
  CHECK(likely_address(first) == "10.0.0.1");
  CHECK(likely_address(HostAddresses{}).empty());
}
