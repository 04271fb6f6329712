#include "launcher/agent/pipes/dealer.h"

#include "launcher/agent/pipes/objects.h"
#include "tests/support/catch.h"
#include "tests/support/record_io.h"

using namespace sml;
using namespace sml::fifos;
using plan::Equalize;
using plan::FifoFraming;
using test::frame;

namespace {

using Dealt = std::vector<std::string>;

void add(Dealt& out, const Result<std::span<const Share>>& shares) {
  REQUIRE(shares.has_value());
  for (const Share& share : *shares) out[share.reader] += share.bytes;
}

// What each of `readers` gets of a stream that comes in pieces of `step` bytes.
Dealt deal(const plan::FifoChannel& channel, std::uint32_t readers, std::string_view stream, std::size_t step) {
  Dealer dealer(channel, readers);
  Dealt out(readers);
  for (; !stream.empty(); stream.remove_prefix(std::min(step, stream.size()))) {
    add(out, dealer.deal(stream.substr(0, step)));
  }
  add(out, dealer.end());
  return out;
}

plan::FifoChannel lines(std::uint32_t group, Equalize equalize = Equalize::No) {
  return {.name = "c", .framing = FifoFraming::Lines, .group = group, .equalize = equalize};
}

}  // namespace

TEST_CASE("records are dealt in turn, byte for byte, with all their parts") {
  const std::string parts = frame("a", 1) + frame("bc", 2) + frame("d", 3);
  const std::string one = frame("one");
  const std::string two = frame("second");
  for (const std::size_t step : {1U, 5U, 1000U}) {
    const plan::FifoChannel records{.name = "c", .framing = FifoFraming::Records};
    CHECK(deal(records, 2, one + parts + two + one + one, step) == Dealt{one + two + one, parts + one});
    CHECK(deal(records, 4, parts, step) == Dealt{parts, "", "", ""});
    CHECK(deal(records, 2, "", step) == Dealt{"", ""});
  }
}

TEST_CASE("a group of records goes to one reader") {
  for (const std::size_t step : {1U, 3U, 1000U}) {
    CHECK(deal(lines(2), 2, "1\n2\n3\n4\n5\n", step) == Dealt{"1\n2\n5\n", "3\n4\n"});
    CHECK(deal(lines(3), 3, "1\n2\n3\n4", step) == Dealt{"1\n2\n3\n", "4", ""});
    const plan::FifoChannel bytes{.name = "c", .framing = FifoFraming::Bytes, .group = 2};
    CHECK(deal(bytes, 2, "aabbccd", step) == Dealt{"aacc", "bbd"});
  }
}

TEST_CASE("equal shares leave out what is no whole round") {
  for (const std::size_t step : {1U, 3U, 1000U}) {
    CHECK(deal(lines(1, Equalize::Drop), 2, "1\n2\n3\n4\n5\n", step) == Dealt{"1\n3\n", "2\n4\n"});
    CHECK(deal(lines(1, Equalize::Drop), 2, "1\n2\n3\n4", step) == Dealt{"1\n3\n", "2\n4"});
    CHECK(deal(lines(2, Equalize::Drop), 2, "1\n2\n3\n4\n5\n6\n7\n", step) == Dealt{"1\n2\n", "3\n4\n"});
    CHECK(deal(lines(1, Equalize::Drop), 3, "1\n2\n", step) == Dealt{"", "", ""});
    const plan::FifoChannel bytes{.name = "c", .framing = FifoFraming::Bytes, .group = 2, .equalize = Equalize::Drop};
    CHECK(deal(bytes, 2, "aabbccd", step) == Dealt{"aa", "bb"});
  }
}

TEST_CASE("a round that is too long to be kept is an error") {
  Dealer dealer(lines(1, Equalize::Drop), 2, 10);
  CHECK(dealer.deal("12345\n").has_value());
  const auto shares = dealer.deal("12345678\n");
  REQUIRE(shares.has_error());
  CHECK_THAT(shares.error().message(), Catch::Contains("more than 10 bytes"));
}

TEST_CASE("a broken stream is an error at its byte") {
  Dealer dealer({.name = "c", .framing = FifoFraming::Records}, 2);
  REQUIRE(dealer.deal(frame("12")).has_value());
  CHECK(dealer.deal("garbage!").has_error());
  CHECK(dealer.offset() == 12);
  Dealer cut({.name = "c", .framing = FifoFraming::Records}, 2);
  REQUIRE(cut.deal(frame("12").substr(0, 10)).has_value());
  CHECK(cut.end().has_error());
}

TEST_CASE("a manifest is a prefix and the keys behind it") {
  using Words = std::vector<std::string>;
  CHECK(*parse_manifest(R"([{"prefix": "/d/"}, "a", "b/c"])", "/m") == Words{"/d/a", "/d/b/c"});
  CHECK(*parse_manifest(" [ {\"prefix\" : \"x-\"} ,\n\"1\" ] \n", "/m") == Words{"/m/x-1"});
  CHECK(*parse_manifest(R"([{"prefix": "/"}, "\u00e4\ud83d\ude00\n\"\\\/"])", "") == Words{"/\u00e4\U0001f600\n\"\\/"});
  struct Row {
    std::string text;
    std::string word;
  };
  const Row rows[] = {
      {"", "byte 0: expected a manifest"},
      {"{}", "expected a manifest"},
      {"[]", "as the first item"},
      {R"(["a"])", "as the first item"},
      {R"([{"Prefix": "/"}, "a"])", "as the first item"},
      {R"([{"prefix": 1}, "a"])", "as the first item"},
      {R"([{"prefix": "/", "x": 1}, "a"])", "as the first item"},
      {R"([{"prefix": "s3://b/"}, "a"])", "local files"},
      {R"([{"prefix": "/"}])", "at least one key"},
      {R"([{"prefix": "/"}, ""])", "a key in quotes"},
      {R"([{"prefix": "/"}, 1])", "byte 18: expected a key in quotes"},
      {R"([{"prefix": "/"}, "a",])", "a key in quotes"},
      {R"([{"prefix": "/"}, "a" "b"])", "a comma and another key"},
      {R"([{"prefix": "/"}, "a")", "the end of the list"},
      {R"([{"prefix": "/"}, "a"] x)", "nothing behind"},
      {R"([{"prefix": "/"}, "\u0000"])", "NUL"},
      {R"([{"prefix": "/"}, "\ud83d"])", "a key in quotes"},
      {R"([{"prefix": "/"}, "\ude00"])", "a key in quotes"},
      {R"([{"prefix": "/"}, "\x"])", "a key in quotes"},
      {R"([{"prefix": "/"}, "a)", "a key in quotes"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const auto parsed = parse_manifest(row.text, "/m");
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().kind() == ErrorKind::Config);
    CHECK_THAT(parsed.error().message(), Catch::Contains(row.word));
  }
}

TEST_CASE("an order is drawn from the seed and the epoch") {
  const std::vector<std::uint32_t> first = shuffled(100, 7, 0);
  CHECK(first == shuffled(100, 7, 0));
  CHECK(first != shuffled(100, 7, 1));
  CHECK(first != shuffled(100, 8, 0));
  std::vector<std::uint32_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (std::uint32_t i = 0; i < sorted.size(); ++i) CHECK(sorted[i] == i);
  CHECK(shuffled(0, 1, 0).empty());
}
