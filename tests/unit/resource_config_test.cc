#include "launcher/hosts/resource_config.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::hosts;

TEST_CASE("resource configs of every kind of job are read") {
  struct Row {
    const char* kind;
    const char* text;
    const char* current_host;
    std::vector<std::string> hosts;
    const char* interface;
  };
  const Row rows[] = {
      {"training",
       R"({"current_host":"algo-2","hosts":["algo-1","algo-2"],"network_interface_name":"eth0",
           "current_instance_type":"ml.p4d.24xlarge","current_group_name":"homogeneousCluster",
           "instance_groups":[{"instance_group_name":"homogeneousCluster","instance_type":"ml.p4d.24xlarge",
           "hosts":["algo-2","algo-1"]}],"topology":null})",
       "algo-2",
       {"algo-1", "algo-2"},
       "eth0"},
      {"processing", R"({"current_host":"algo-1","hosts":["algo-1","algo-2"]})", "algo-1", {"algo-1", "algo-2"}, ""},
      {"order of the file",
       R"({"current_host":"algo-10","hosts":["algo-1","algo-10","algo-2"]})",
       "algo-10",
       {"algo-1", "algo-10", "algo-2"},
       ""},
      {"local mode",
       R"({"current_host":"algo-1-x7k2p","hosts":["algo-1-x7k2p"],"network_interface_name":null})",
       "algo-1-x7k2p",
       {"algo-1-x7k2p"},
       ""},
      {"unknown keys",
       R"({"new":{"hosts":[1]},"current_host":"a","hosts":["a"],"topology":[{"hostName":"a"}]})",
       "a",
       {"a"},
       ""},
      {"blanks around", "\n {\"hosts\":[\"a\"],\"current_host\":\"a\"}\r\n", "a", {"a"}, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.kind);
    const auto config = parse_resource_config(row.text, "rc.json");
    REQUIRE(config.has_value());
    CHECK(config->current_host == row.current_host);
    CHECK(config->hosts == row.hosts);
    CHECK(config->network_interface_name == row.interface);
  }
}

TEST_CASE("a bad resource config is refused with one sentence that names file and key") {
  struct Row {
    std::string text;
    const char* message;
  };
  const Row rows[] = {
      {"", "is empty; expected a JSON object with \"hosts\" and \"current_host\""},
      {" \n", "is empty; expected a JSON object with \"hosts\" and \"current_host\""},
      {"{\n  \"hosts\": [\"a\",]\n}", "is not JSON (line 2, column 17)"},
      {"hosts: a", "is not JSON (line 1, column 1)"},
      {"{\"hosts\":[\"a\"]", "is not JSON (line 1, column 15)"},
      {"{\"hosts\":[\"\xff\"]}", "is not JSON (line 1, column 12)"},
      {"{\"n\":1e999}", "is not JSON that can be read (a number is out of range)"},
      {"[]", "is no JSON object; expected {\"current_host\": ..., \"hosts\": [...]}"},
      {"null", "is no JSON object; expected {\"current_host\": ..., \"hosts\": [...]}"},
      {"{}", "has no \"hosts\"; expected an array of host names"},
      {R"({"hosts":null,"current_host":"a"})", "has no \"hosts\"; expected an array of host names"},
      {R"({"hosts":"a","current_host":"a"})", "\"hosts\" is no array; expected an array of host names"},
      {R"({"hosts":[],"current_host":"a"})", "\"hosts\" is empty; expected at least one host name"},
      {R"({"hosts":["a",1],"current_host":"a"})", "\"hosts\"[1] is no string; expected a host name"},
      {R"({"hosts":["a",null],"current_host":"a"})", "\"hosts\"[1] is no string; expected a host name"},
      {R"({"hosts":["-oX"],"current_host":"a"})", "\"hosts\"[0] is \"-oX\"; expected a host name"},
      {R"({"hosts":["a\u001b"],"current_host":"a"})", "\"hosts\"[0] is \"a\\x1b\"; expected a host name"},
      {R"({"hosts":["a\u0000"],"current_host":"a"})", "\"hosts\"[0] is \"a\\x00\"; expected a host name"},
      {R"({"hosts":["a","b","a"],"current_host":"a"})", "\"hosts\" names a twice"},
      {R"({"hosts":["a"]})", "has no \"current_host\"; expected the name of this host"},
      {R"({"hosts":["a"],"current_host":null})", "has no \"current_host\"; expected the name of this host"},
      {R"({"hosts":["a"],"current_host":7})", "\"current_host\" is no string; expected a host name"},
      {R"({"hosts":["algo-1","algo-2"],"current_host":"algo-3"})",
       "\"current_host\" algo-3 is not in \"hosts\" (algo-[1-2])"},
      {R"({"hosts":["a"],"current_host":"a","network_interface_name":5})", "\"network_interface_name\" is no string"},
      {std::string(100, '['), "is nested deeper than 64 levels"},
      {"{" + std::string(1 << 20, ' '), "is larger than 1 MiB"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text.substr(0, 100));
    const auto config = parse_resource_config(row.text, "rc.json");
    REQUIRE(config.has_error());
    CHECK(config.error().kind() == ErrorKind::Config);
    CHECK(config.error().message() == "rc.json: " + std::string(row.message));
  }
}
