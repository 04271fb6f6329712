#include "common/plan/machine/cpu_topology.h"

#include "tests/support/catch.h"
#include "tests/support/fake_machines.h"

using namespace sml;
using namespace sml::plan;

namespace {
// "number:socket/node/l3/core" of each processor.
std::string flat(const CpuTopology& topology) {
  std::string out;
  for (const Cpu& c : topology) {
    const std::string l3 = c.l3 == kNowhere ? "-" : std::to_string(c.l3);
    out += (out.empty() ? "" : " ") + std::to_string(c.number) + ":" + std::to_string(c.socket) + "/" +
           std::to_string(c.numa_node) + "/" + l3 + "/" + std::to_string(c.core);
  }
  return out;
}
}  // namespace

TEST_CASE("the processors of real machines are numbered as hwloc numbers them") {
  CHECK(flat(test::two_sockets_smt().topology()) ==
        "0:0/0/0/0 8:0/0/0/0 2:0/0/0/1 10:0/0/0/1 4:0/0/0/2 12:0/0/0/2 6:0/0/0/3 14:0/0/0/3 "
        "1:1/1/1/4 9:1/1/1/4 3:1/1/1/5 11:1/1/1/5 5:1/1/1/6 13:1/1/1/6 7:1/1/1/7 15:1/1/1/7");
  CHECK(flat(test::several_caches().topology()) ==
        "0:0/0/0/0 1:0/0/0/1 2:0/0/1/2 3:0/0/1/3 4:0/1/2/4 5:0/1/2/5 6:0/1/3/6 7:0/1/3/7");
  CHECK(flat(test::hybrid().topology()) == "0:0/0/0/0 1:0/0/0/0 2:0/0/0/1 3:0/0/0/1 4:0/0/0/2 5:0/0/0/3");
  CHECK(flat(test::plain_vm().topology()) == "0:0/0/-/0 1:0/0/-/1");
}

TEST_CASE("a host that shows nothing has no processors that are known") {
  CHECK(read_cpu_topology([](const std::string&) { return std::string(); }).empty());
  CHECK(read_cpu_topology([](const std::string&) { return std::string("0-99999999999"); }).empty());
}

TEST_CASE("lists of processors are read as the kernel writes them") {
  CHECK(parse_cpu_list("0-2,5\n") == CpuSet{0, 1, 2, 5});
  CHECK(parse_cpu_list("\n") == CpuSet{});
  CHECK(parse_cpu_list("7,0-1,1") == CpuSet{0, 1, 7});
  for (const char* bad : {"a", "1-", "-1", "3-1", "1,,2", "65536", "0-4294967295"}) {
    CAPTURE(bad);
    CHECK(!parse_cpu_list(bad));
  }
  CHECK(cpu_list_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7-8");
  CHECK(cpu_list_text({}) == "");
}

TEST_CASE("two ranks see what they share of a host in its words") {
  const CpuTopology two = test::two_sockets_smt().topology();
  CHECK(locality_text(two, {0, 8}) == "SK0:NM0:L30:CR0:HT0,8");
  CHECK(locality_text(two, {1, 2, 3}) == "SK0-1:NM0-1:L30-1:CR1,4-5:HT1-3");
  CHECK(locality_text(test::plain_vm().topology(), {1}) == "SK0:NM0:CR1:HT1");  // whose caches are not known
  CHECK(locality_text(two, {}).empty());
  CHECK(locality_text({}, {0}).empty());
}
