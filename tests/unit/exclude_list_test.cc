#include "launcher/hosts/exclude_list.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::hosts;
using namespace std::chrono_literals;

TEST_CASE("exclude list: names, with the time since when or without, and remarks") {
  const std::string text = "# bad ones\n\n  algo-1\r\nalgo-2 2026-11-23T23:41:00Z # 3 failures\nalgo-3# by hand";
  const std::vector<ExcludedHost> list = *parse_exclude_list(text);
  REQUIRE(list.size() == 3);
  CHECK(list[0].name == "algo-1");
  CHECK_FALSE(list[0].since);
  CHECK(list[1].name == "algo-2");
  CHECK(list[1].since == 1795477260);
  CHECK(list[2].name == "algo-3");
  CHECK(parse_exclude_list("")->empty());
}

TEST_CASE("exclude list: what is written is read again") {
  const std::string line = exclude_line("algo-2", 1795477260, "rank 3\nexited");
  CHECK(line == "algo-2 2026-11-23T23:41:00Z # rank 3\\nexited\n");
  CHECK((*parse_exclude_list(line))[0].since == 1795477260);
}

TEST_CASE("exclude list: a line that is none is named") {
  for (const char* bad :
       {"a\nb soon", "a\nb 2026-11-23", "a\nb 2026-11-23T23:41:00Z c", "a\nb 2026-11-23T23:41:00Zx"}) {
    CAPTURE(bad);
    const auto parsed = parse_exclude_list(bad);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().kind() == ErrorKind::Config);
    CHECK(parsed.error().message().starts_with("line 2: "));
  }
}

TEST_CASE("exclude list: a host is out until it has cooled down, or for good") {
  const ExcludedHost timed{"a", 1000};
  CHECK(timed.is_out(1059, 60s));
  CHECK_FALSE(timed.is_out(1060, 60s));
  CHECK(timed.is_out(1000000, std::nullopt));
  CHECK(ExcludedHost{"a", std::nullopt}.is_out(1000000, 60s));
}
