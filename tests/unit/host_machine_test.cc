#include "common/supervise/host_machine.h"

#include <csignal>
#include <set>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::supervise;
using namespace std::chrono_literals;
using S = HostState;
using E = HostEvent;
using A = HostAction;

namespace {

const TimePoint kNow = TimePoint(1000h);
constexpr Duration kDefaultGrace = 10s;

constexpr S kStates[] = {S::Idle,         S::Running,  S::Stopping,     S::Killing, S::Draining,
                         S::DrainKilling, S::Sweeping, S::SweepKilling, S::Gone};
constexpr E kEvents[] = {E::Start, E::Stop, E::LauncherLost, E::AllReaped, E::AllDone, E::NothingLeft, E::Deadline};

HostMachine at(S state, Duration grace = kDefaultGrace) {
  std::vector<E> way;
  switch (state) {
    case S::Idle: break;
    case S::Running: way = {E::Start}; break;
    case S::Stopping: way = {E::Start, E::Stop}; break;
    case S::Killing: way = {E::Start, E::Stop, E::Deadline}; break;
    case S::Draining: way = {E::Start, E::AllReaped}; break;
    case S::DrainKilling: way = {E::Start, E::Stop, E::AllReaped, E::Deadline}; break;
    case S::Sweeping: way = {E::Start, E::AllReaped, E::AllDone}; break;
    case S::SweepKilling: way = {E::Start, E::AllReaped, E::AllDone, E::Deadline}; break;
    case S::Gone: way = {E::Stop}; break;
  }
  HostMachine machine(grace);
  for (const E event : way) machine.on(event, kNow);
  REQUIRE(machine.state() == state);
  return machine;
}

struct Expectation {
  S state;
  E event;
  S next;
  A action;
};

// What each state answers; every other pair is news that has been dealt with already.
const Expectation kExpected[] = {
    {S::Idle, E::Start, S::Running, A::SpawnAll},
    {S::Idle, E::Stop, S::Gone, A::Leave},
    {S::Idle, E::LauncherLost, S::Gone, A::Leave},
    // the first reason to end begins the grace
    {S::Running, E::Stop, S::Stopping, A::SignalAll},
    {S::Running, E::LauncherLost, S::Stopping, A::SignalAllDropOutput},
    {S::Running, E::AllReaped, S::Draining, A::None},
    {S::Stopping, E::LauncherLost, S::Stopping, A::DropOutput},
    {S::Stopping, E::AllReaped, S::Draining, A::None},
    {S::Stopping, E::Deadline, S::Killing, A::KillAll},
    // nothing can be done after SIGKILL but to wait, and not for ever
    {S::Killing, E::LauncherLost, S::Killing, A::DropOutput},
    {S::Killing, E::AllReaped, S::Draining, A::None},
    {S::Killing, E::Deadline, S::Gone, A::Leave},
    // a process that a worker left behind may hold its output: a stop is for it too
    {S::Draining, E::Stop, S::Stopping, A::SignalAll},
    {S::Draining, E::Deadline, S::DrainKilling, A::KillAll},
    {S::DrainKilling, E::LauncherLost, S::DrainKilling, A::DropOutput},
    {S::DrainKilling, E::AllDone, S::Sweeping, A::SignalLeft},
    {S::Draining, E::LauncherLost, S::Draining, A::DropOutput},
    {S::Draining, E::AllDone, S::Sweeping, A::SignalLeft},
    {S::Sweeping, E::NothingLeft, S::Gone, A::Leave},
    {S::Sweeping, E::Deadline, S::SweepKilling, A::KillAll},
    {S::SweepKilling, E::NothingLeft, S::Gone, A::Leave},
    {S::SweepKilling, E::Deadline, S::Gone, A::Leave},
};

}  // namespace

TEST_CASE("a host: every state and every event") {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      CAPTURE(name(state), name(event));
      const Expectation* expected = nullptr;
      for (const Expectation& row : kExpected) {
        if (row.state == state && row.event == event) expected = &row;
      }
      HostMachine machine = at(state);
      const std::optional<TimePoint> before = machine.deadline();
      const A action = machine.on(event, kNow + 1ms);
      CHECK(action == (expected != nullptr ? expected->action : A::None));
      CHECK(machine.state() == (expected != nullptr ? expected->next : state));
      if (machine.state() == state) CHECK(machine.deadline() == before);
    }
  }
}

TEST_CASE("every state that waits for processes to die has an end") {
  CHECK_FALSE(at(S::Idle).deadline());
  CHECK_FALSE(at(S::Running).deadline());
  CHECK(at(S::Stopping).deadline() == kNow + kDefaultGrace);
  CHECK(at(S::Killing).deadline() == kNow + HostMachine::kReapLimit);
  CHECK_FALSE(at(S::Draining).deadline());  // each worker's own drain clock
  CHECK_FALSE(at(S::DrainKilling).deadline());
  CHECK(at(S::Sweeping).deadline() == kNow + HostMachine::kSweepGrace);
  CHECK(at(S::Sweeping, 300ms).deadline() == kNow + 300ms);
  CHECK(at(S::SweepKilling).deadline() == kNow + HostMachine::kReapLimit);
  CHECK_FALSE(at(S::Gone).deadline());
}

TEST_CASE("a stop names the signal and the grace") {
  HostMachine machine = at(S::Running);
  CHECK(machine.stop(SIGINT, 3s, kNow) == A::SignalAll);
  CHECK(machine.stop_signal() == SIGINT);
  CHECK(machine.deadline() == kNow + 3s);
}

TEST_CASE("a further stop shortens what is left, never lengthens it, and changes no signal") {
  HostMachine machine = at(S::Running);
  machine.stop(SIGTERM, 10s, kNow);
  CHECK(machine.stop(SIGTERM, 60s, kNow + 1s) == A::None);
  CHECK(machine.deadline() == kNow + 10s);
  CHECK(machine.stop(SIGKILL, 2s, kNow + 1s) == A::None);
  CHECK(machine.deadline() == kNow + 3s);
  CHECK(machine.stop(SIGKILL, 0s, kNow + 2s) == A::None);
  CHECK(machine.deadline() == kNow + 2s);
  CHECK(machine.stop_signal() == SIGTERM);
  CHECK(machine.on(E::Deadline, kNow + 2s) == A::KillAll);
  // SIGKILL cannot be made faster
  CHECK(machine.stop(SIGKILL, 0s, kNow + 3s) == A::None);
  CHECK(machine.deadline() == kNow + 2s + HostMachine::kReapLimit);
}

TEST_CASE("a stop while what was left behind is being ended shortens that") {
  HostMachine machine = at(S::Sweeping);
  CHECK(machine.stop(SIGTERM, 100ms, kNow) == A::None);
  CHECK(machine.deadline() == kNow + 100ms);
  CHECK(machine.stop(SIGTERM, 10s, kNow) == A::None);
  CHECK(machine.deadline() == kNow + 100ms);
}

TEST_CASE("the grace is also that of a process which holds the output of a worker that has ended") {
  HostMachine machine = at(S::Draining);
  CHECK(machine.stop(SIGTERM, 3s, kNow) == A::SignalAll);
  CHECK(machine.on(E::AllReaped, kNow) == A::None);
  CHECK(machine.deadline() == kNow + 3s);
  machine.stop(SIGTERM, 60s, kNow + 1s);
  CHECK(machine.deadline() == kNow + 3s);
  machine.on(E::AllReaped, kNow + 1s);
  CHECK(machine.on(E::Deadline, kNow + 3s) == A::KillAll);
}

TEST_CASE("a stop that comes before the start forbids it") {
  HostMachine machine(kDefaultGrace);
  CHECK(machine.stop(SIGTERM, 1s, kNow) == A::Leave);
  CHECK(machine.start(kNow) == A::None);
  CHECK(machine.state() == S::Gone);
}

TEST_CASE("a lost launcher takes the default grace and SIGTERM") {
  HostMachine machine(4s);
  machine.start(kNow);
  CHECK(machine.on(E::LauncherLost, kNow + 1s) == A::SignalAllDropOutput);
  CHECK(machine.stop_signal() == SIGTERM);
  CHECK(machine.deadline() == kNow + 5s);
  CHECK(machine.on(E::LauncherLost, kNow + 2s) == A::DropOutput);
  CHECK(machine.deadline() == kNow + 5s);
}

TEST_CASE("from any state deadlines alone lead to the end, in bounded time") {
  for (const S state : kStates) {
    CAPTURE(name(state));
    HostMachine machine = at(state);
    TimePoint now = kNow;
    machine.on(E::LauncherLost, now);
    for (int step = 0; step < 10 && machine.state() != S::Gone; ++step) {
      // with the output dropped, all are done
      if (machine.state() == S::Draining || machine.state() == S::DrainKilling) machine.on(E::AllDone, now);
      REQUIRE(machine.deadline().has_value());
      now = *machine.deadline();
      machine.on(E::Deadline, now);
    }
    CHECK(machine.state() == S::Gone);
    CHECK(now - kNow <= kDefaultGrace + HostMachine::kSweepGrace + 2 * HostMachine::kReapLimit);
  }
}

TEST_CASE("the names of a host's states and events are words of their own") {
  std::set<std::string_view> names;
  for (const S state : kStates) CHECK(names.insert(name(state)).second);
  for (const E event : kEvents) CHECK(names.insert(name(event)).second);
  CHECK(names.count("") == 0);
}
