#include "launcher/agent/machines/host_machine.h"

#include <csignal>
#include <set>

#include "common/core/transition_table.h"
#include "tests/support/catch.h"
#include "tests/support/machine_walk.h"

using namespace sml;
using namespace sml::agent;
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
  for (const E event : way) static_cast<void>(machine.on(event, kNow));
  REQUIRE(machine.state() == state);
  return machine;
}

}  // namespace

TEST_CASE("a host: every state is reached and leads to the end, and every action is asked for") {
  const auto walk =
      fake::walk(HostMachine(kDefaultGrace), std::span<const E>(kEvents), [](HostMachine& machine, E event) {
        const S before = machine.state();
        const A action = machine.on(event, kNow);
        if (action == A::Unexpected) CHECK(machine.state() == before);
        return action;
      });
  CHECK(walk.ways.size() == std::size(kStates));
  CHECK(walk.that_end_in(S::Gone).size() == std::size(kStates));
  CHECK(walk.actions.size() == static_cast<std::size_t>(A::EndAttempt) + 1);
}

TEST_CASE("a host: what changes no state moves no deadline") {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      CAPTURE(enum_name(state), enum_name(event));
      HostMachine machine = at(state);
      const std::optional<TimePoint> before = machine.deadline();
      static_cast<void>(machine.on(event, kNow + 1ms));
      if (machine.state() == state) CHECK(machine.deadline() == before);
    }
  }
}

TEST_CASE("a host: what is said again, or may come at any time, is expected at any time") {
  for (const S state : kStates) {
    for (const E event : {E::Stop, E::LauncherLost, E::AllReaped, E::AllDone}) {
      CAPTURE(enum_name(state), enum_name(event));
      CHECK(at(state).on(event, kNow) != A::Unexpected);
    }
  }
}

TEST_CASE("a host: output is dropped when nobody is there to read it, for as long as some may come") {
  for (const S state : {S::Stopping, S::Killing, S::Draining, S::DrainKilling}) {
    CHECK(at(state).on(E::LauncherLost, kNow) == A::DropOutput);
  }
  CHECK(at(S::Running).on(E::LauncherLost, kNow) == A::SignalAllDropOutput);
}

TEST_CASE("a host: workers start once, are asked to end once, and are killed when a time is over") {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      CAPTURE(enum_name(state), enum_name(event));
      HostMachine machine = at(state);
      const A action = machine.on(event, kNow);
      CHECK((action == A::SpawnAll) == (state == S::Idle && event == E::Start));
      const bool asks = action == A::SignalAll || action == A::SignalAllDropOutput;
      CHECK(asks == (state != S::Stopping && machine.state() == S::Stopping));
      if (action == A::KillAll) CHECK(event == E::Deadline);
      CHECK((action == A::EndAttempt) == (state != S::Gone && machine.state() == S::Gone));
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

TEST_CASE("a further stop with a longer grace gives it from where the stop began, and changes no signal") {
  HostMachine machine = at(S::Running);
  static_cast<void>(machine.stop(SIGTERM, 10s, kNow));
  CHECK(machine.stop(SIGINT, 60s, kNow + 1s) == A::None);
  CHECK(machine.deadline() == kNow + 60s);
  CHECK(machine.stop(SIGINT, 60s, kNow + 2s) == A::None);
  CHECK(machine.deadline() == kNow + 60s);
  CHECK(machine.stop_signal() == SIGTERM);
  CHECK(machine.stop(SIGKILL, 0s, kNow + 3s) == A::None);
  CHECK(machine.deadline() == kNow + 3s);
}

TEST_CASE("a further stop with no longer grace only shortens what is left, and changes no signal") {
  HostMachine machine = at(S::Running);
  static_cast<void>(machine.stop(SIGTERM, 10s, kNow));
  CHECK(machine.stop(SIGTERM, 10s, kNow + 1s) == A::None);
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

TEST_CASE("a stop that the agent has from elsewhere takes the default grace, until the launcher names another") {
  HostMachine machine = at(S::Running);
  CHECK(machine.stop_by_itself(kNow) == A::SignalAll);
  CHECK(machine.stop_signal() == SIGTERM);
  CHECK(machine.deadline() == kNow + kDefaultGrace);
  CHECK(machine.stop_by_itself(kNow + 1s) == A::None);
  CHECK(machine.deadline() == kNow + kDefaultGrace);
  CHECK(machine.stop(SIGTERM, 100s, kNow + 1s) == A::None);
  CHECK(machine.deadline() == kNow + 101s);
  CHECK(machine.stop_by_itself(kNow + 2s) == A::None);
  CHECK(machine.stop(SIGTERM, 100s, kNow + 3s) == A::None);
  CHECK(machine.deadline() == kNow + 101s);
}

TEST_CASE("a stop that the agent has from elsewhere joins one of the launcher") {
  for (const S state : kStates) {
    CAPTURE(enum_name(state));
    HostMachine machine = at(state);
    static_cast<void>(machine.stop(SIGTERM, 100s, kNow));
    const std::optional<TimePoint> before = machine.deadline();
    static_cast<void>(machine.stop_by_itself(kNow + 1s));
    CHECK(machine.deadline() == before);
    static_cast<void>(machine.stop(SIGKILL, 0s, kNow + 2s));
    if (machine.state() == S::Stopping) CHECK(machine.deadline() == kNow + 2s);
  }
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
  static_cast<void>(machine.stop(SIGTERM, 60s, kNow + 1s));
  CHECK(machine.deadline() == kNow + 60s);
  static_cast<void>(machine.on(E::AllReaped, kNow + 1s));
  CHECK(machine.on(E::Deadline, kNow + 60s) == A::KillAll);
}

TEST_CASE("a stop that comes before the start forbids it") {
  HostMachine machine(kDefaultGrace);
  CHECK(machine.stop(SIGTERM, 1s, kNow) == A::EndAttempt);
  CHECK(machine.start(kNow) == A::None);
  CHECK(machine.state() == S::Gone);
}

TEST_CASE("a lost launcher takes the default grace and SIGTERM") {
  HostMachine machine(4s);
  static_cast<void>(machine.start(kNow));
  CHECK(machine.on(E::LauncherLost, kNow + 1s) == A::SignalAllDropOutput);
  CHECK(machine.stop_signal() == SIGTERM);
  CHECK(machine.deadline() == kNow + 5s);
  CHECK(machine.on(E::LauncherLost, kNow + 2s) == A::DropOutput);
  CHECK(machine.deadline() == kNow + 5s);
}

TEST_CASE("from any state deadlines alone lead to the end, in bounded time") {
  for (const S state : kStates) {
    CAPTURE(enum_name(state));
    HostMachine machine = at(state);
    TimePoint now = kNow;
    static_cast<void>(machine.on(E::LauncherLost, now));
    for (int step = 0; step < 10 && machine.state() != S::Gone; ++step) {
      // with the output dropped, all are done
      if (machine.state() == S::Draining || machine.state() == S::DrainKilling)
        static_cast<void>(machine.on(E::AllDone, now));
      REQUIRE(machine.deadline().has_value());
      now = *machine.deadline();
      static_cast<void>(machine.on(E::Deadline, now));
    }
    CHECK(machine.state() == S::Gone);
    CHECK(now - kNow <= kDefaultGrace + HostMachine::kSweepGrace + 2 * HostMachine::kReapLimit);
  }
}

TEST_CASE("the names of a host's states and events are words of their own") {
  std::set<std::string_view> names;
  for (const S state : kStates) CHECK(names.insert(enum_name(state)).second);
  for (const E event : kEvents) CHECK(names.insert(enum_name(event)).second);
  CHECK(names.count("") == 0);
}
