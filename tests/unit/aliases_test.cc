#include "launcher/hosts/aliases.h"

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::hosts;

namespace {

std::vector<plan::Host> list_of(const char* text) {
  auto hosts = parse_host_list(text);
  REQUIRE(hosts.has_value());
  return *hosts;
}

std::vector<MachineNames> found(const char* text, const std::vector<std::string>& machines) {
  const std::vector<plan::Host> hosts = list_of(text);
  std::vector<SeenHost> seen;
  for (std::size_t i = 0; i < hosts.size(); ++i) seen.push_back({hosts[i], machines[i]});
  return find_machines(seen);
}

// "a:2 b:1", then the warnings.
std::string merged(const char* text, const std::vector<MachineNames>& machines) {
  std::vector<plan::Host> hosts = list_of(text);
  const auto warnings = merge_machines(hosts, machines);
  if (!warnings) return warnings.error().message();
  std::string out;
  for (const plan::Host& host : hosts) out += host.name + ":" + std::to_string(*host.slots) + " ";
  for (const std::string& warning : *warnings) out += "| " + warning;
  return out;
}

}  // namespace

TEST_CASE("hosts on one machine are found by what their agents say") {
  CHECK(found("a,b,c,d", {"m", "n", "m", "n"}) == std::vector<MachineNames>{{"a", "c"}, {"b", "d"}});
  CHECK(found("a,b", {"m", "n"}).empty());
  CHECK(found("a,b", {"", ""}).empty());  // they do not say
}

TEST_CASE("another user or port is what the user wants") {
  CHECK(found("u@a,v@b,u@c", {"m", "m", "m"}) == std::vector<MachineNames>{{"a", "c"}});
  CHECK(found("a:2201/1,b:2202/1", {"m", "m"}).empty());
  CHECK(found("a,b:2202/1", {"m", "m"}).empty());
}

TEST_CASE("one machine is one host with the slots of all its names") {
  CHECK(merged("a:2,b:1,c:3", {{"a", "c"}}) == "a:5 b:1 | c is the same machine as a: one host with the slots of both");
  CHECK(merged("c:3,b:1,a:2", {{"a", "c"}}) == "a:5 b:1 | a is the same machine as c: one host with the slots of both");
  CHECK(merged("b:1,c:3", {{"a", "c"}}) == "b:1 a:3 ");
  CHECK(merged("a:60000,b:60000", {{"a", "b"}}) ==
        "a and b are one machine, with 120000 slots; a host has at most 65536");
}

TEST_CASE("slots that are chosen by number count once") {
  std::vector<plan::Host> hosts = list_of("a:2,b:2");
  hosts[0].slot_numbers = {1, 3};
  hosts[1].slot_numbers = {2, 3};
  REQUIRE(merge_machines(hosts, std::vector<MachineNames>{{"a", "b"}}).has_value());
  CHECK(hosts[0].slot_numbers == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(hosts[0].slots == 3);
}

TEST_CASE("what is found later goes on from what is known") {
  std::vector<MachineNames> known{{"a", "b"}, {"c", "d"}};
  add_machines(known, {{"x", "a"}});
  CHECK(known == std::vector<MachineNames>{{"c", "d"}, {"x", "a", "b"}});
  CHECK(name_of_machine("b", known) == "x");
  CHECK(name_of_machine("z", known) == "z");
}
