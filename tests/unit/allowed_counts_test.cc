#include "common/plan/ranks/allowed_counts.h"

#include "tests/support/catch.h"

using namespace sml::plan;
using Ranges = std::vector<CountRange>;

TEST_CASE("allowed numbers of ranks are Fortran's triplets") {
  CHECK(parse_allowed_counts("3") == Ranges{{3, 3, 1}});
  CHECK(parse_allowed_counts("1:8") == Ranges{{1, 8, 1}});
  CHECK(parse_allowed_counts("2:9:3") == Ranges{{2, 8, 3}});
  CHECK(parse_allowed_counts("8:2:-2, 16") == Ranges{{2, 8, 2}, {16, 16, 1}});
  CHECK(parse_allowed_counts("-3:8:4") == Ranges{{1, 5, 4}});
  CHECK(parse_allowed_counts("0:4") == Ranges{{1, 4, 1}});
  CHECK(parse_allowed_counts("-4:8:4,-2") == Ranges{{4, 8, 4}});
  for (const char* bad : {"", "a", "1:", "1:2:0", "4:1", "1:4:-1", "1:2:3:4", "0", "-1", "99999999999", "1,,2"}) {
    CHECK_FALSE(parse_allowed_counts(bad).has_value());
  }
}

TEST_CASE("the largest allowed number is looked for in all ranges") {
  const Ranges ranges{{2, 8, 3}, {4, 4, 1}};
  CHECK(largest_allowed(ranges, 100) == 8);
  CHECK(largest_allowed(ranges, 7) == 5);
  CHECK(largest_allowed(ranges, 4) == 4);
  CHECK(largest_allowed(ranges, 3) == 2);
  CHECK(largest_allowed(ranges, 1) == std::nullopt);
}
