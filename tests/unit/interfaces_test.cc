#include "common/core/interfaces.h"

#include "tests/support/catch.h"

using namespace sml;

namespace {
using Words = std::vector<std::string>;

const std::vector<InterfaceAddress> kHost{{"lo", "127.0.0.1"},   {"eth0", "10.1.0.7"},   {"eth1", "192.168.5.7"},
                                          {"ib0", "10.200.0.7"}, {"ib0", "10.201.0.7"},  {"lo", "::1"},
                                          {"eth0", "fd00:1::7"}, {"eth1", "2001:db8::7"}};

std::string refusal(std::string_view text) {
  const Result<Words> list = parse_interface_list(text);
  return list ? "(taken)" : list.error().message();
}

ChosenInterfaces chosen(std::string_view text) {
  const Result<Words> list = parse_interface_list(text);
  REQUIRE(list.has_value());
  const Result<ChosenInterfaces> out = choose_interfaces(*list, kHost);
  REQUIRE(out.has_value());
  return *out;
}
}  // namespace

TEST_CASE("an interface is chosen by its name, with all of its addresses", "[interfaces]") {
  CHECK(chosen("eth1").names == Words{"eth1"});
  CHECK(chosen("eth1").addresses == Words{"192.168.5.7", "2001:db8::7"});
  CHECK(chosen("lo").addresses == Words{"127.0.0.1", "::1"});
}

TEST_CASE("an interface is chosen by its network, with the addresses that lie in it", "[interfaces]") {
  CHECK(chosen("10.0.0.0/8").names == Words{"eth0", "ib0"});
  CHECK(chosen("10.0.0.0/8").addresses == Words{"10.1.0.7", "10.200.0.7", "10.201.0.7"});
  CHECK(chosen("10.201.3.4/16").addresses == Words{"10.201.0.7"});
  CHECK(chosen("192.168.4.0/23").names == Words{"eth1"});
  CHECK(chosen("fd00::/16").addresses == Words{"fd00:1::7"});
  CHECK(chosen("10.1.0.7/32").addresses == Words{"10.1.0.7"});
}

TEST_CASE("loopback lies in no network", "[interfaces]") {
  CHECK(chosen("0.0.0.0/0").names == Words{"eth0", "eth1", "ib0"});
  CHECK_FALSE(choose_interfaces(Words{"127.0.0.0/8"}, kHost).has_value());
  CHECK_FALSE(choose_interfaces(Words{"::1/128"}, kHost).has_value());
}

TEST_CASE("of a list each host uses what it has, in the order of the list", "[interfaces]") {
  CHECK(chosen("ens5,ib0,eth0").names == Words{"ib0", "eth0"});
  CHECK(chosen("fd00::/16,eth0").addresses == Words{"fd00:1::7", "10.1.0.7"});
}

TEST_CASE("a host without such an interface says which it has", "[interfaces]") {
  const auto none = choose_interfaces(Words{"ens5", "172.16.0.0/12"}, kHost);
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message() ==
        "no interface that is up and has an address matches --interface ens5,172.16.0.0/12; there is lo,eth0,eth1,ib0");
  CHECK(choose_interfaces(Words{"eth0"}, {}).error().message() ==
        "no interface that is up and has an address matches --interface eth0; there is none");
}

TEST_CASE("what is no list of interfaces is refused", "[interfaces]") {
  const std::string expected =
      " is not the name of an interface, such as eth0, or a network, such as 10.0.0.0/8 or fd00::/16";
  for (const char* bad : {"", "eth 0", "-eth0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "fd00::/129",
                          "/8", "eth0/8", "a-name-that-is-too-long", "^docker0"}) {
    CHECK(refusal(bad) == "\"" + std::string(bad) + "\"" + expected);
  }
  CHECK(refusal("eth0,,ib0") == "\"\"" + expected);
  CHECK(refusal("eth0,") == "\"\"" + expected);
  CHECK(refusal("eth0,10.0.0.1") ==
        "\"10.0.0.1\" is not a network; write how many of its bits count, as in 10.0.0.0/8");
  std::string many = "e0";
  for (int i = 1; i <= 64; ++i) many += ",e" + std::to_string(i);
  CHECK(refusal(many) == "more than 64 interfaces");
}
