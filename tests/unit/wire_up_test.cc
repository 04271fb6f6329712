#include "launcher/attempt/rendezvous/wire_up.h"

#include "common/wire/limits.h"
#include "tests/support/catch.h"

using namespace sml;
using attempt::FenceTable;
using wire::FenceData;
using wire::Piece;

namespace {

// Three hosts; the third has two ranks.
plan::JobMap make_map() {
  plan::HostList list;
  list.hosts = {{.name = "a", .user = {}, .slots = 1},
                {.name = "b", .user = {}, .slots = 1},
                {.name = "c", .user = {}, .slots = 2}};
  return *plan::map_job(list, std::nullopt, plan::Oversubscribe::No);
}

FenceData data(const std::string& bytes, const std::vector<Rank>& ranks = {}, Piece piece = Piece::Last) {
  return {.fence = "1", .ranks = ranks, .piece = piece, .bytes = bytes};
}

struct Table {
  plan::JobMap map = make_map();
  FenceTable fences{map};

  void waits(std::uint32_t host, const FenceData& m) {
    const auto answer = fences.add(HostIndex(host), m);
    REQUIRE(answer.has_value());
    CHECK_FALSE(answer->has_value());
  }
  FenceTable::Complete completes(std::uint32_t host, const FenceData& m) {
    const auto answer = fences.add(HostIndex(host), m);
    REQUIRE(answer.has_value());
    REQUIRE(answer->has_value());
    return **answer;
  }
  void refuses(std::uint32_t host, const FenceData& m, const std::string& rule) {
    const auto answer = fences.add(HostIndex(host), m);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().message() == rule);
  }
};

}  // namespace

TEST_CASE("a fence is over when the last host has said all, and all get what all have said") {
  Table table;
  table.waits(2, data("C"));
  table.waits(0, data("", {}, Piece::More));
  table.waits(0, data("A1", {}, Piece::More));
  table.waits(0, data("A2"));
  const FenceTable::Complete complete = table.completes(1, data(""));
  CHECK(complete.hosts == std::vector{HostIndex(0), HostIndex(1), HostIndex(2)});
  CHECK(complete.message.fence == "1");
  CHECK(complete.message.parts == std::vector<std::string>{"A1A2", "", "C"});

  SECTION("its name is free again") {
    table.waits(0, data("A"));
    table.waits(1, data("B"));
    CHECK(table.completes(2, data("C")).message.parts == std::vector<std::string>{"A", "B", "C"});
  }
}

TEST_CASE("a fence of some ranks concerns their hosts only") {
  Table table;
  const std::vector<Rank> some{Rank(3), Rank(0), Rank(2)};
  table.waits(0, data("A", some));
  const FenceTable::Complete complete = table.completes(2, data("C", some));
  CHECK(complete.hosts == std::vector{HostIndex(0), HostIndex(2)});
  CHECK(complete.message.parts == std::vector<std::string>{"A", "C"});
}

TEST_CASE("fences of several names and services run side by side") {
  Table table;
  FenceData other = data("x");
  other.service = wire::WireUp::Pmix;
  FenceData second = data("y");
  second.fence = "2";
  for (const FenceData& m : {data("A"), other, second}) {
    table.waits(0, m);
    table.waits(1, m);
  }
  CHECK(table.completes(2, second).message.parts == std::vector<std::string>{"y", "y", "y"});
  CHECK(table.completes(2, data("C")).message.parts == std::vector<std::string>{"A", "A", "C"});
  CHECK(table.completes(2, other).message.service == wire::WireUp::Pmix);
}

TEST_CASE("who has no part in a fence, has had it, or names others is refused") {
  Table table;
  const std::vector<Rank> some{Rank(0), Rank(2)};
  table.waits(0, data("A", some));
  table.refuses(0, data("A", some), "sent more of a fence that it had completed");
  table.refuses(1, data("B", some), "sent a message of a fence in which it has no part");
  table.refuses(2, data("C"), "named other ranks of a fence than another host");
}

TEST_CASE("what all hosts hand over for one fence has a limit") {
  Table table;
  const std::string most(wire::kMaxPiece, 'x');
  std::size_t size = 0;
  for (; size + most.size() <= wire::kMaxFence; size += most.size()) table.waits(0, data(most, {}, Piece::More));
  table.refuses(1, data("x"), "the ranks hand over more than 48 MiB before one of MPI's barriers");
}

TEST_CASE("a fence of ranks that there are not") {
  Table table;
  table.refuses(0, data("A", {Rank(0), Rank(4)}), "named ranks of a fence that do not exist");
}
