#include "common/core/rank_set.h"

#include "tests/support/catch.h"

using namespace sml;

namespace {
std::string read_back(std::string_view text) {
  const Result<RankSet> set = RankSet::parse(text, 999);
  return set ? set->text() : set.error().message();
}
}  // namespace

TEST_CASE("lists of ranks are sorted, and what touches becomes one range") {
  CHECK(read_back("0,8-15") == "0,8-15");
  CHECK(read_back("8-15,0") == "0,8-15");
  CHECK(read_back("3,2,1") == "1-3");
  CHECK(read_back("0-3,2-9,11") == "0-9,11");
  CHECK(read_back("5,5,5-5") == "5");
  CHECK(read_back("1,3,5,0-7") == "0-7");
}

TEST_CASE("who is in a set of ranks") {
  const RankSet set = *RankSet::parse("0,8-15,20", 999);
  for (const std::uint32_t rank : {0U, 8U, 11U, 15U, 20U}) CHECK(set.contains(rank));
  for (const std::uint32_t rank : {1U, 7U, 16U, 19U, 21U}) CHECK_FALSE(set.contains(rank));
  CHECK(set.size() == 10);
  CHECK(set.largest() == 20);
  CHECK_FALSE(RankSet().contains(0));
}

TEST_CASE("what is no list of ranks is refused, with its place") {
  CHECK(read_back("0,x-3") == "\"0,x-3\" is not a list of ranks such as 0,8-15 (column 3: \"x-3\")");
  for (const char* bad : {"", ",", "1,", "-1", "3-", "5-3", "1 2", "0x1", "1000", "1-1000", "99999999999999"}) {
    CAPTURE(bad);
    CHECK(RankSet::parse(bad, 999).has_error());
  }
}

TEST_CASE("widths of ranks") {
  CHECK(RankSet::parse("0-3,12", 999)->text(4) == "0000-0003,0012");
  CHECK(RankSet::parse("123", 999)->text(2) == "123");
}
