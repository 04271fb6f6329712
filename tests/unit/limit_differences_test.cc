#include "launcher/report/hosts/limit_differences.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;

TEST_CASE("limits that differ between hosts are told in one sentence, with those who have each") {
  const ReportedLimits usual{.open_files = 1024, .stack = 8192 * 1024, .locked_memory = kNoLimit};
  CHECK(limit_differences({}).empty());
  CHECK(limit_differences({{"a", usual}, {"b", usual}}).empty());
  ReportedLimits other = usual;
  other.open_files = 65536;
  other.locked_memory = 64 * 1024;
  CHECK(limit_differences({{"n1", usual}, {"n2", usual}, {"n3", other}}) ==
        "limits of workers differ between hosts, as those of their logins do: open files (ulimit -n): 1024 on n[1-2], "
        "65536 on n3; locked memory in KiB (ulimit -l): 64 on n3, unlimited on n[1-2]");
  CHECK(limit_differences({{"a", usual}, {"b", {}}}).empty());  // of whom nothing is known
}
