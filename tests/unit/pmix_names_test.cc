#include "launcher/agent/mpi/pmix_names.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::agent::pmix;
using Verb = NameRequest::Verb;

namespace {

const std::string kOfRank7("\0\0\0\7port", 8);
NameRequest publish(const char* key, std::uint32_t once = 0) { return {Verb::Publish, Rank(7), key, "port", once}; }
NameRequest look_up(const char* key, std::uint32_t waits = 0) { return {Verb::LookUp, {}, key, {}, waits}; }
NameRequest unpublish(const char* key) { return {Verb::Unpublish, {}, key}; }

// "RANK.ID STATUS BYTES" of each reply.
std::vector<std::string> told(const std::vector<Names::Reply>& replies) {
  std::vector<std::string> out;
  for (const Names::Reply& one : replies) {
    out.push_back(std::to_string(one.to.rank.value()) + "." + std::to_string(one.to.id) + " " +
                  std::to_string(one.status) + (one.bytes == kOfRank7 ? " port of 7" : one.bytes));
  }
  return out;
}
using Told = std::vector<std::string>;

}  // namespace

TEST_CASE("what a rank has published others find, until it is gone", "[pmix]") {
  Names names;
  CHECK(told(names.ask({Rank(0), 1}, look_up("a"))) == Told{"0.1 -46"});
  CHECK(told(names.ask({Rank(0), 2}, publish("a"))) == Told{"0.2 0"});
  CHECK(told(names.ask({Rank(0), 3}, publish("a"))) == Told{"0.3 -53"});
  CHECK(told(names.ask({Rank(4), 4}, look_up("a"))) == Told{"4.4 0 port of 7"});
  CHECK(told(names.ask({Rank(4), 5}, look_up("a", 1))) == Told{"4.5 0 port of 7"});
  CHECK(told(names.ask({Rank(4), 6}, unpublish("a"))) == Told{"4.6 0"});
  CHECK(told(names.ask({Rank(4), 7}, unpublish("a"))) == Told{"4.7 -46"});
}

TEST_CASE("who waits for a name gets it when it comes", "[pmix]") {
  Names names;
  CHECK(names.ask({Rank(0), 1}, look_up("a", 1)).empty());
  CHECK(names.ask({Rank(4), 1}, look_up("a", 1)).empty());
  CHECK(names.ask({Rank(4), 2}, look_up("b", 1)).empty());
  CHECK(told(names.ask({Rank(0), 2}, publish("a"))) == Told{"0.2 0", "0.1 0 port of 7", "4.1 0 port of 7"});
  CHECK(told(names.ask({Rank(4), 3}, look_up("a"))) == Told{"4.3 0 port of 7"});
}

TEST_CASE("what is published to be found once is found once", "[pmix]") {
  Names names;
  CHECK(told(names.ask({Rank(0), 1}, publish("a", 1))) == Told{"0.1 0"});
  CHECK(told(names.ask({Rank(0), 2}, look_up("a"))) == Told{"0.2 0 port of 7"});
  CHECK(told(names.ask({Rank(0), 3}, look_up("a"))) == Told{"0.3 -46"});
  CHECK(names.ask({Rank(0), 4}, look_up("a", 1)).empty());
  CHECK(names.ask({Rank(0), 5}, look_up("a", 1)).empty());
  CHECK(told(names.ask({Rank(0), 6}, publish("a", 1))) == Told{"0.6 0", "0.4 0 port of 7"});
  CHECK(told(names.ask({Rank(0), 7}, publish("a", 1))) == Told{"0.7 0", "0.5 0 port of 7"});
  CHECK(told(names.ask({Rank(0), 8}, look_up("a"))) == Told{"0.8 -46"});
}

TEST_CASE("names and who waits for them are bounded", "[pmix]") {
  Names names;
  CHECK(told(names.ask({Rank(0), 1}, publish(std::string(Names::kLongest + 1, 'x').c_str()))) == Told{"0.1 -29"});
  for (std::size_t i = 0; i < Names::kMost; ++i) {
    CHECK(names.ask({Rank(0), 0}, publish(std::to_string(i).c_str())).size() == 1);
    CHECK(names.ask({Rank(0), 0}, look_up("none", 1)).empty());
  }
  CHECK(told(names.ask({Rank(0), 2}, publish("one more"))) == Told{"0.2 -29"});
  CHECK(told(names.ask({Rank(0), 3}, look_up("none", 1))) == Told{"0.3 -29"});
}
