#include "launcher/run/restarts/exclusion.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::run;
using namespace std::chrono_literals;

namespace {
const TimePoint kStart{1000h};
constexpr HostId kA{0}, kB{1};
using Hosts = std::vector<HostId>;
}  // namespace

TEST_CASE("exclusion: a host is out after so many failures of its own") {
  ExcludeOptions options{.after = 2};
  Exclusion exclusion(options);
  CHECK_FALSE(exclusion.failed(kA, kStart).has_value());
  CHECK_FALSE(exclusion.failed(kB, kStart + 1s));
  CHECK(exclusion.out(kStart + 1s).empty());
  CHECK(exclusion.failed(kA, kStart + 2h) == 2U);
  CHECK(exclusion.out(kStart + 9000h) == Hosts{kA});
}

TEST_CASE("exclusion: none unless it is asked for") {
  ExcludeOptions options;
  Exclusion exclusion(options);
  for (int i = 0; i < 9; ++i) CHECK_FALSE(exclusion.failed(kA, kStart).has_value());
}

TEST_CASE("exclusion: only failures within the time count") {
  ExcludeOptions options{.after = 2, .within = 1h};
  Exclusion exclusion(options);
  CHECK_FALSE(exclusion.failed(kA, kStart).has_value());
  CHECK_FALSE(exclusion.failed(kA, kStart + 1h));
  CHECK(exclusion.failed(kA, kStart + 90min) == 2U);
}

TEST_CASE("exclusion: a host that has cooled down may come back, and fail anew") {
  ExcludeOptions options{.after = 2, .cool_down = 30min};
  Exclusion exclusion(options);
  exclusion.failed(kA, kStart);
  exclusion.failed(kA, kStart);
  CHECK(exclusion.out(kStart + 29min) == Hosts{kA});
  CHECK(exclusion.out(kStart + 30min).empty());
  CHECK_FALSE(exclusion.failed(kA, kStart + 31min));
  CHECK(exclusion.failed(kA, kStart + 32min) == 2U);
  CHECK(exclusion.out(kStart + 33min) == Hosts{kA});
}

TEST_CASE("exclusion: each time may be twice as long as the one before") {
  ExcludeOptions options{.after = 1};
  REQUIRE(options.read_cool_down("10s:30s").has_value());
  Exclusion exclusion(options);
  TimePoint now = kStart;
  for (const Duration time : {10s, 20s, 30s, 30s}) {
    CHECK(exclusion.failed(kA, now) == 1U);
    CHECK(exclusion.out(now + time - 1ms) == Hosts{kA});
    CHECK(exclusion.out(now + time).empty());
    now += time;
  }
}

TEST_CASE("exclusion: the grammar of its time") {
  ExcludeOptions options;
  REQUIRE(options.read_cool_down("30m").has_value());
  CHECK(options.cool_down_of(1) == 30min);
  CHECK(options.cool_down_of(9) == 30min);
  for (const char* bad : {"", "0s", "500ms", "x", "2m:1m", "1m:", ":1m", "1s:2s:3s"}) {
    CAPTURE(bad);
    CHECK_FALSE(options.read_cool_down(bad).has_value());
  }
}

TEST_CASE("exclusion: the grammar") {
  ExcludeOptions options;
  REQUIRE(options.read_after("3/1h").has_value());
  CHECK(options.after == 3);
  CHECK(options.within == 1h);
  REQUIRE(options.read_after("1").has_value());
  CHECK_FALSE(options.within);
  for (const char* bad : {"", "0", "x", "3/", "3/0s", "/1h", "3/1h/2"}) {
    CAPTURE(bad);
    CHECK_FALSE(options.read_after(bad).has_value());
  }
}
