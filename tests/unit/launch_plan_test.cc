#include "common/plan/launch_plan.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {
LaunchPlan plan_of(const char* hosts, std::optional<std::uint32_t> np) {
  const auto list = hosts::parse_host_list(hosts);
  REQUIRE(list.has_value());
  const auto map = map_job({*list, "-H"}, np, Oversubscribe::No);
  REQUIRE(map.has_value());
  LaunchPlan plan;
  plan.map = *map;
  plan.host_source = "-H";
  plan.command = {"true"};
  plan.working_directory = "/work";
  return plan;
}
}  // namespace

TEST_CASE("the plan prints as the JSON object of the contract") {
  const std::string json = to_json(plan_of("a:1,b:2", 3));
  const std::string contract =
      R"({"world_size":3,"host_source":"-H","hosts":[{"index":0,"name":"a","slots":1,"ranks":[0]},)"
      R"({"index":1,"name":"b","slots":2,"ranks":[1,2]}],"ranks":[)"
      R"({"rank":0,"host":"a","local_rank":0,"local_size":1,"group_rank":0,"cross_rank":0,"cross_size":2},)"
      R"({"rank":1,"host":"b","local_rank":0,"local_size":2,"group_rank":1,"cross_rank":1,"cross_size":2},)"
      R"({"rank":2,"host":"b","local_rank":1,"local_size":2,"group_rank":1,"cross_rank":0,"cross_size":1}],)"
      R"("command":["true"])";
  CHECK(json.substr(0, contract.size()) == contract);
  CHECK(json.substr(contract.size()) == R"(,"working_directory":"/work","export":"all","variables":[]})");
}

TEST_CASE("hosts that have no ranks, and users, are in the JSON too") {
  const auto json = nlohmann::json::parse(to_json(plan_of("a:1,joe@b:0,c:1", 1)));
  REQUIRE(json["hosts"].size() == 3);
  CHECK(json["hosts"][0].contains("user") == false);
  CHECK(json["hosts"][1]["user"] == "joe");
  CHECK(json["hosts"][1]["ranks"].empty());
  CHECK(json["hosts"][2]["ranks"].empty());
}

TEST_CASE("any bytes in the command give valid JSON on one line") {
  LaunchPlan plan = plan_of("a:1", 1);
  plan.command = {"p", "", "a\nb\"\\\x1b", "\xff\xfe", "gr\xc3\xbc\xc3\x9f"};
  const std::string text = to_json(plan);
  CHECK(text.find('\n') == std::string::npos);
  const auto command = nlohmann::json::parse(text)["command"];
  CHECK(command[1] == "");
  CHECK(command[2] == "a\nb\"\\\x1b");
  CHECK(command[3] == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(command[4] == "gr\xc3\xbc\xc3\x9f");
}

TEST_CASE("neither form shows the value of a variable") {
  LaunchPlan plan = plan_of("a:1", 1);
  plan.user_environment = {"TOKEN=s3cr3t", "B=1", "TOKEN=s3cr3t2"};
  plan.launcher_environment = {"OTHER=s3cr3t"};
  plan.export_policy = ExportPolicy::None;
  const std::string json = to_json(plan);
  CHECK(json.find("s3cr3t") == std::string::npos);
  CHECK(nlohmann::json::parse(json)["variables"] == nlohmann::json({"TOKEN", "B"}));
  CHECK(nlohmann::json::parse(json)["export"] == "none");
  const std::string table = to_table(plan);
  CHECK(table.find("s3cr3t") == std::string::npos);
  CHECK(table.find("variables  TOKEN B\n") != std::string::npos);
}

TEST_CASE("the plan prints as tables for people") {
  LaunchPlan plan = plan_of("a:1,joe@b:3", 3);
  plan.command = {"sh", "-c", "echo 'hi'"};
  CHECK(to_table(plan) ==
        "3 workers on 2 hosts; hosts from -H\n"
        "\n"
        "  host   slots  ranks\n"
        "  a          1      0\n"
        "  joe@b      3    1-2\n"
        "\n"
        "  host  rank  local rank  local size  group rank  cross rank  cross size\n"
        "  a        0           0           1           0           0           2\n"
        "  b        1           0           2           1           1           2\n"
        "  b        2           1           2           1           0           1\n"
        "\n"
        "command    sh -c 'echo '\\''hi'\\'''\n"
        "directory  /work\n");
}

TEST_CASE("the tables of a large job stay short and narrow") {
  LaunchPlan plan = plan_of("n[1-20]:16", std::nullopt);
  plan.command = {"python3"};
  for (int i = 0; i < 100; ++i) plan.command.push_back("--option=" + std::to_string(i));
  plan.command.push_back("\x1b[2J");
  std::istringstream table(to_table(plan));
  std::string line;
  int lines = 0;
  for (; std::getline(table, line); ++lines) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
    CHECK(line.find('\x1b') == std::string::npos);
  }
  CHECK(lines < 60);
}
