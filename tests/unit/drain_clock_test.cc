#include "launcher/agent/machines/worker_machine.h"

#include "tests/support/catch.h"

using namespace sml;
using agent::DrainClock;
using namespace std::chrono_literals;

namespace {
const TimePoint kStart = TimePoint(1000h);
constexpr Duration kQuiet = DrainClock::kQuiet;
constexpr Duration kCap = DrainClock::kCap;
}  // namespace

TEST_CASE("while the worker lives nothing runs out") {
  DrainClock clock;
  CHECK_FALSE(clock.deadline().has_value());
  clock.on_output(kStart);
  clock.pause(kStart);
  clock.resume(kStart + 1h);
  CHECK_FALSE(clock.deadline().has_value());
}

TEST_CASE("a quiet pipe is given up soon after the worker's end") {
  DrainClock clock;
  clock.begin(kStart);
  CHECK(clock.deadline() == kStart + kQuiet);
}

TEST_CASE("every byte puts the quiet off, up to the cap") {
  DrainClock clock;
  clock.begin(kStart);
  clock.on_output(kStart + 400ms);
  CHECK(clock.deadline() == kStart + 400ms + kQuiet);
  for (Duration t = 0s; t < 60s; t += 100ms) clock.on_output(kStart + t);
  CHECK(clock.deadline() == kStart + kCap);
}

TEST_CASE("time in which we may not read does not count") {
  DrainClock clock;
  clock.begin(kStart);
  clock.pause(kStart + 100ms);
  CHECK_FALSE(clock.deadline().has_value());
  clock.resume(kStart + 1h);
  CHECK(clock.deadline() == kStart + 1h - 100ms + kQuiet);
  clock.on_output(kStart + 1h);
  for (Duration t = 0s; t < 60s; t += 100ms) clock.on_output(kStart + 1h + t);
  CHECK(clock.deadline() == kStart + 1h - 100ms + kCap);
}

TEST_CASE("a pause that began before the end counts from the end on") {
  DrainClock clock;
  clock.pause(kStart - 1h);
  clock.begin(kStart);
  CHECK_FALSE(clock.deadline().has_value());
  clock.resume(kStart + 10s);
  CHECK(clock.deadline() == kStart + 10s + kQuiet);
}

TEST_CASE("a second pause does not move the first, and a resume without a pause is nothing") {
  DrainClock clock;
  clock.begin(kStart);
  clock.resume(kStart + 200ms);
  CHECK(clock.deadline() == kStart + kQuiet);
  clock.pause(kStart + 100ms);
  clock.pause(kStart + 5s);
  clock.resume(kStart + 10s);
  CHECK(clock.deadline() == kStart + 10s - 100ms + kQuiet);
}

TEST_CASE("once the worker's own output has been read, pauses count towards the cap") {
  DrainClock clock;
  clock.begin(kStart);
  clock.pause(kStart + 1s);
  clock.resume(kStart + 3s);
  clock.own_read(kStart + 4s);
  clock.on_output(kStart + 5s);
  clock.pause(kStart + 5s);
  CHECK(clock.deadline() == kStart + 2s + kCap);
  clock.resume(kStart + 9s);
  CHECK(clock.deadline() == kStart + 9s + kQuiet);
  for (Duration t = 9s; t < 60s; t += 100ms) clock.on_output(kStart + t);
  CHECK(clock.deadline() == kStart + 2s + kCap);
}

TEST_CASE("the pause in which the worker's own output ends counts from there on") {
  DrainClock clock;
  clock.begin(kStart);
  clock.pause(kStart + 1s);
  clock.own_read(kStart + 4s);
  CHECK(clock.deadline() == kStart + 3s + kCap);
  clock.own_read(kStart + 6s);
  clock.resume(kStart + 8s);
  for (Duration t = 8s; t < 60s; t += 100ms) clock.on_output(kStart + t);
  CHECK(clock.deadline() == kStart + 3s + kCap);
}
