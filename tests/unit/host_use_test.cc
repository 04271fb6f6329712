#include "launcher/agent/os/host_use.h"
#include "launcher/report/live/host_peaks.h"
#include "tests/support/catch.h"

using namespace sml;

TEST_CASE("use of a host: memory that nobody can have any more") {
  HostUse use;
  os::add_memory(use, "MemTotal:       1000 kB\nMemFree:         10 kB\nMemAvailable:    400 kB\n");
  CHECK(use.memory_total == 1000 * 1024);
  CHECK(use.memory_used == 600 * 1024);
  for (const char* text : {"", "MemTotal: x kB\nMemAvailable: 1 kB\n", "MemTotal: 5 kB\n"}) {
    HostUse none;
    os::add_memory(none, text);
    CHECK(none == HostUse());
  }
  HostUse odd;  // more than there is
  os::add_memory(odd, "MemTotal: 5 kB\nMemAvailable: 9 kB\n");
  CHECK(odd.memory_used == 0);
}

TEST_CASE("use of a host: what has changed is what can be seen") {
  const HostUse use{.memory_used = 500, .memory_total = 1000, .accelerators = {{"card0", 50, 10, 100}}};
  HostUse other = use;
  CHECK_FALSE(differs(use, other));
  other.memory_used = 509;
  CHECK_FALSE(differs(use, other));
  other.memory_used = 511;
  CHECK(differs(use, other));
  other = use;
  other.accelerators[0].busy_percent = 55;
  CHECK(differs(use, other));
  other = use;
  other.accelerators[0].memory_used = 12;
  CHECK(differs(use, other));
  other.accelerators.clear();
  CHECK(differs(use, other));
}

TEST_CASE("use of a host: peaks of what was told") {
  report::HostPeaks peaks;
  peaks.add({10, 100, {{"card0", 5, 7, 9}}});
  peaks.add({90, 100, {{"card0", 3, 8, 9}, {"card1", 100, 1, 9}}});
  peaks.add({20, 100, {}});
  CHECK(peaks.samples == 3);
  CHECK(peaks.memory_peak == 90);
  CHECK(peaks.last.memory_used == 20);
  REQUIRE(peaks.accelerators.size() == 2);
  CHECK(peaks.accelerators[0].busy_peak == 5);
  CHECK(peaks.accelerators[0].memory_peak == 8);
  CHECK(peaks.accelerators[1].busy_peak == 100);
}
