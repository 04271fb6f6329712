#include "launcher/hosts/instance_groups.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::hosts;

namespace {
constexpr const char* kMixed =
    R"({"current_host":"algo-1","hosts":["algo-1","algo-2","algo-3"],"instance_groups":[
        {"instance_group_name":"gpu","instance_type":"ml.p4d.24xlarge","hosts":["algo-3","algo-2"]},
        {"instance_group_name":"cpu","instance_type":"ml.c5.9xlarge","hosts":["algo-1"]}],"topology":null})";

std::vector<plan::Host> hosts_named(const std::vector<std::string>& names) {
  std::vector<plan::Host> out;
  for (const std::string& name : names) out.push_back({name, "", std::nullopt});
  return out;
}

// "algo-2:8 algo-3": hosts with their slots.
std::string flat(const std::vector<plan::Host>& hosts) {
  std::string out;
  for (const plan::Host& host : hosts) {
    out += (out.empty() ? "" : " ") + host.name + (host.slots ? ":" + std::to_string(*host.slots) : "");
  }
  return out;
}

std::string of_groups(std::string_view wanted, const char* text = kMixed) {
  const auto groups = parse_instance_groups(text, "rc.json");
  if (groups.has_error()) return groups.error().message();
  const auto hosts = hosts_of_groups(hosts_named({"algo-1", "algo-2", "algo-3"}), *groups, wanted);
  return hosts.has_error() ? hosts.error().message() : flat(*hosts);
}
}  // namespace

TEST_CASE("the hosts of groups come in the order of the file, each with the slots of its group") {
  CHECK(of_groups("gpu") == "algo-2 algo-3");
  CHECK(of_groups("cpu,gpu") == "algo-1 algo-2 algo-3");
  CHECK(of_groups("gpu:8, cpu:2") == "algo-1:2 algo-2:8 algo-3:8");
  CHECK(of_groups("cpu:0") == "algo-1:0");
}

TEST_CASE("groups that are not there are refused with those that are") {
  CHECK(of_groups("gpus") == "\"gpus\" is no instance group; the file has gpu, cpu");
  CHECK(of_groups("gpu,") == "an instance group has no name; expected NAME[:SLOTS],...");
  CHECK(of_groups("gpu:x") == "\"gpu:x\" has \"x\" after \":\"; expected a whole number of slots from 0 to 65536");
  CHECK(of_groups("gpu", R"({"hosts":["a"],"instance_groups":null})") == "\"gpu\": the file has no instance groups");
  CHECK(of_groups("g", R"({"instance_groups":[{"instance_group_name":"g","hosts":["elsewhere"]}]})") ==
        "the instance groups that are named have no host of the job");
  CHECK(of_groups("g", R"({"instance_groups":[{}]})") ==
        "rc.json: \"instance_groups\"[0] has no \"instance_group_name\"; expected a name");
  CHECK(of_groups("g", R"({"instance_groups":[{"instance_group_name":"g"}]})") ==
        "rc.json: \"instance_groups\"[0] has no \"hosts\"; expected an array of host names");
  CHECK(of_groups("g", R"({"instance_groups":[{"instance_group_name":"g","hosts":[1]}]})") ==
        "rc.json: \"instance_groups\"[0] has a host that is no string");
}

TEST_CASE("hosts of one NVLink domain stand together") {
  const auto arranged = [](const char* topology) {
    auto hosts = hosts_named({"a", "b", "c", "d", "e"});
    keep_domains_together(hosts, std::string(R"({"topology":)") + topology + "}", "rc.json");
    return flat(hosts);
  };
  CHECK(arranged(R"([{"hostName":"a","capacityUnitId":"x"},{"hostName":"b","capacityUnitId":"y"},
                     {"hostName":"d","capacityUnitId":"x"},{"hostName":"e","capacityUnitId":"y"}])") == "a d b e c");
  CHECK(arranged("null") == "a b c d e");
  CHECK(arranged(R"([{"hostName":"a"},7,{"hostName":5,"capacityUnitId":"x"}])") == "a b c d e");
}
