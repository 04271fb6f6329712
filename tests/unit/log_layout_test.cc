#include "launcher/output/log_layout.h"

#include "launcher/output/stream_routes.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::output;

namespace {

const LogLayout::Place kPlace{.rank = Rank(7),
                              .local_rank = LocalRank(3),
                              .host = "algo-1",
                              .job = "sml-12",
                              .stream = Stream::Stderr,
                              .world_size = 1024};

std::string path(std::string_view layout, const LogLayout::Place& place = kPlace) {
  const Result<LogLayout> parsed = LogLayout::parse(layout);
  REQUIRE(parsed.has_value());
  return parsed->path(place);
}

std::string refusal(std::string_view layout) {
  const Result<LogLayout> parsed = LogLayout::parse(layout);
  REQUIRE(parsed.has_error());
  CHECK(parsed.error().kind() == ErrorKind::Usage);
  return parsed.error().message();
}

}  // namespace

TEST_CASE("streams go where torchrun's numbers send them", "[log_layout]") {
  const auto ways = [](const StreamRoutes& routes) {
    std::string out;
    for (const std::uint32_t rank : {0U, 1U}) {
      for (const Stream stream : {Stream::Stdout, Stream::Stderr}) {
        const bool file = routes.to_file(LocalRank(rank), stream);
        out += routes.to_output(LocalRank(rank), stream) ? (file ? 'b' : 'o') : (file ? 'f' : '-');
      }
    }
    return out;
  };
  const auto choice = [](std::string_view text) { return *StreamChoice::parse(text); };
  CHECK(ways({}) == "bbbb");
  CHECK(ways({choice("0"), {}}) == "oooo");
  CHECK(ways({choice("3"), {}}) == "ffff");
  CHECK(ways({choice("1"), {}}) == "fofo");
  CHECK(ways({choice("0:3,1:2"), {}}) == "ffof");
  CHECK(ways({{}, choice("1:1")}) == "oobo");
  CHECK(ways({choice("3"), choice("3")}) == "bbbb");
  CHECK(ways({choice("3"), choice("0:1,1:2")}) == "bffb");
  for (const char* bad : {"", "4", "-1", "0:", ":3", "0:4", "0:3,", "a:1", "0;3", "3,0:1"}) {
    CAPTURE(bad);
    CHECK(StreamChoice::parse(bad).has_error());
  }
}

TEST_CASE("the layouts that have names of their own") {
  CHECK(path(LogLayout::kDefault) == "rank.0007/stderr");
  CHECK(path(LogLayout::kOpenMpi) == "1/rank.0007/stderr");
}

TEST_CASE("each word of a layout") {
  CHECK(path("{job}/{host}/{local_rank}.{rank}.{stream}") == "sml-12/algo-1/3.0007.stderr");
  CHECK(path("a{{b}}c") == "a{b}c");
}

TEST_CASE("ranks are as wide as the world size") {
  for (const auto& [world, width] : {std::pair{1U, 1U}, {9U, 1U}, {10U, 2U}, {1000U, 4U}, {1'000'000U, 7U}}) {
    LogLayout::Place place = kPlace;
    place.world_size = world;
    CHECK(path("{rank}", place).size() == width);
  }
}

TEST_CASE("no name leads out of the folder") {
  LogLayout::Place place = kPlace;
  place.host = "../../etc";
  CHECK(path("{host}/{rank}", place) == ".._.._etc/0007");
  place.host = "..";
  CHECK(path("{host}/x", place) == "__/x");
  place.host = ".";
  CHECK(path("x/{host}", place) == "x/_");
  CHECK(path("x/{host}{host}", place) == "x/__");
  place.host = "a\nb";
  CHECK(path("{host}", place) == "a_b");
  LogLayout::Place of_ten = kPlace;
  of_ten.world_size = 10;
  CHECK(path("{rank}", of_ten) == "07");
  CHECK(path("{rank:0}", of_ten) == "7");  // as many digits as the largest rank, as Horovod has them
  place.job = "";
  CHECK(path("{job}/{rank}", place) == "_/0007");
  CHECK(path("{rank}/{job}", place) == "0007/_");
  CHECK(path("{job}", place) == "_");
}

TEST_CASE("layouts that are refused, and why") {
  CHECK(refusal("/var/log/{rank}") == "must be relative to the folder of --log-dir");
  for (const char* text : {"../{rank}", "a/../{rank}", "a//b", "a/", "", "./x", "x/.."}) {
    CHECK(refusal(text) == "must be names with one / between them, neither . nor ..");
  }
  CHECK(refusal("{rnk}") == "has {rnk}; the words are {rank}, {local_rank}, {host}, {stream}, {job} and {restart}");
  CHECK(refusal("{rank") == "has a { without a }; write {{ for the character itself");
  CHECK(refusal("rank}") == "has a } without a {; write }} for the character itself");
  CHECK(refusal(std::string_view("a\0b", 3)) == "must be names with one / between them, neither . nor ..");
}

TEST_CASE("two streams never share a file") {
  CHECK(check_distinct({"a", "b", "c.1"}).has_value());
  const Result<void> same = check_distinct({"x", "a", "x"});
  REQUIRE(!same);
  CHECK(same.error().message() == "gives x to more than one stream; use {rank} and {stream} to distinguish them");
  const Result<void> rotated = check_distinct({"out", "out.3", "x"});
  REQUIRE(!rotated);
  CHECK(rotated.error().message() == "gives out.3, which is also a name for what rotation leaves of out");
}
