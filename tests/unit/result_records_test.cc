#include "launcher/output/result_records.h"

#include "tests/support/catch.h"

using namespace sml;
using output::ResultRecords;

TEST_CASE("results: a record names attempt, rank and size", "[results]") {
  ResultRecords records(100);
  CHECK(records.add(1, Rank(3), "ab\n").record == "1 3 3\nab\n");
  CHECK(records.add(1, Rank(3), std::string_view("\0", 1)).record == std::string("1 3 1\n\0", 7));
  CHECK(records.add(2, Rank(0), "").record.empty());
}

TEST_CASE("results: a rank has its limit in each attempt", "[results]") {
  ResultRecords records(4);
  CHECK_FALSE(records.add(1, Rank(0), "abc").goes_beyond);
  CHECK_FALSE(records.add(1, Rank(1), "abcd").goes_beyond);
  const ResultRecords::Piece over = records.add(1, Rank(0), "defg");
  CHECK(over.record == "1 0 1\nd");
  CHECK(over.goes_beyond);
  const ResultRecords::Piece more = records.add(1, Rank(0), "h");  // once is enough to say
  CHECK(more.record.empty());
  CHECK_FALSE(more.goes_beyond);
  CHECK(records.add(1, Rank(1), "e").goes_beyond);
  CHECK(records.add(2, Rank(0), "abcd").record == "2 0 4\nabcd");
}
