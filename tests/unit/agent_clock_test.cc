#include "launcher/fleet/agent_clock.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::fleet;
using namespace std::chrono_literals;

namespace {

const TimePoint kNow = TimePoint(1000h);
constexpr auto kBegin = AgentClock::Reading(5min);  // what the agent's clock tells at kNow

}  // namespace

TEST_CASE("the clock of an agent is right but for the way of its message") {
  AgentClock clock;
  clock.add(kBegin, kNow + 30ms);
  CHECK(clock.ours(kBegin + 2s) == kNow + 2s + 30ms);
}

TEST_CASE("an answer halves the doubt about the clock of an agent") {
  AgentClock clock;
  clock.add(kBegin, kNow + 30ms);
  clock.answered(kNow + 1s, kBegin + 1s + 10ms, kNow + 1s + 20ms);
  CHECK(clock.ours(kBegin + 2s) == kNow + 2s);
  clock.add(kBegin + 3s, kNow + 3s + 30ms);
  CHECK(clock.ours(kBegin + 4s) == kNow + 4s);
}

TEST_CASE("an answer that was held up does not move the clock of an agent") {
  AgentClock clock;
  clock.answered(kNow, kBegin + 1ms, kNow + 2ms);
  clock.answered(kNow + 1s, kBegin + 1s + 800ms, kNow + 1s + 802ms);  // on its way there
  CHECK(clock.ours(kBegin + 3s) == kNow + 3s);
  clock.answered(kNow + 5s, kBegin + 5s + 2ms, kNow + 5s + 1s);  // on its way back
  CHECK(clock.ours(kBegin + 9s) == kNow + 9s);
}

TEST_CASE("a clock that drifts is followed on a way that has become longer") {
  AgentClock clock;
  clock.answered(kNow, kBegin, kNow + 1ms);
  for (int i = 1; i <= 8; ++i) {
    const auto passed = i * 10s;
    clock.answered(kNow + passed, kBegin + passed + 20ms + 1s, kNow + passed + 40ms);  // a second ahead by now
  }
  CHECK(clock.ours(kBegin + 100s + 1s) == kNow + 100s);
}

TEST_CASE("an answer from before its question changes nothing") {
  AgentClock clock;
  clock.answered(kNow, kBegin + 1ms, kNow + 2ms);
  clock.answered(kNow + 2s, kBegin + 1h, kNow + 1s);
  CHECK(clock.ours(kBegin + 3s) == kNow + 3s);
}

TEST_CASE("readings that no clock has change nothing") {
  AgentClock clock;
  clock.answered(kNow, kBegin + 1ms, kNow + 2ms);
  for (const AgentClock::Reading bad :
       {AgentClock::Reading::min(), AgentClock::Reading::max(), AgentClock::Reading(-1)}) {
    clock.add(bad, kNow);
    clock.answered(kNow, bad, kNow);
    clock.answered(TimePoint(bad), kBegin, kNow);
    CHECK(clock.ours(bad) != kNow);  // without an overflow
  }
  CHECK(clock.ours(kBegin + 3s) == kNow + 3s);
}
