#include "launcher/agent/pipes/record_distributor.h"

#include "tests/support/catch.h"
#include "tests/support/record_io.h"

using namespace sml;
using namespace sml::agent;
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
  RecordDistributor distributor(channel, readers);
  Dealt out(readers);
  for (; !stream.empty(); stream.remove_prefix(std::min(step, stream.size()))) {
    add(out, distributor.deal(stream.substr(0, step)));
  }
  add(out, distributor.end());
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
  RecordDistributor distributor(lines(1, Equalize::Drop), 2, 10);
  CHECK(distributor.deal("12345\n").has_value());
  const auto shares = distributor.deal("12345678\n");
  REQUIRE(shares.has_error());
  CHECK_THAT(shares.error().message(), Catch::Contains("more than 10 bytes"));
}

TEST_CASE("a broken stream is an error at its byte") {
  RecordDistributor distributor({.name = "c", .framing = FifoFraming::Records}, 2);
  REQUIRE(distributor.deal(frame("12")).has_value());
  CHECK(distributor.deal("garbage!").has_error());
  CHECK(distributor.offset() == 12);
  RecordDistributor cut({.name = "c", .framing = FifoFraming::Records}, 2);
  REQUIRE(cut.deal(frame("12").substr(0, 10)).has_value());
  CHECK(cut.end().has_error());
}
