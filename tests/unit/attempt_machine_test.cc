#include "launcher/attempt/attempt_machine.h"

#include <set>

#include "common/core/transition_table.h"
#include "tests/support/catch.h"
#include "tests/support/machine_walk.h"

using namespace sml;
using namespace sml::attempt;
using namespace std::chrono_literals;
using S = AttemptState;
using E = AttemptEvent;
using A = AttemptAction;

namespace {

const TimePoint kNow = TimePoint(1000h);
constexpr Duration kStartTimeout = 60s;
constexpr Duration kGrace = 10s;

constexpr S kStates[] = {S::Connecting, S::Failing, S::Probing, S::Running,
                         S::Stopping,   S::Cleared, S::Leaving, S::Finished};
constexpr E kEvents[] = {E::AllReady, E::AllSettled,  E::OneMachine, E::HostFailed, E::AllProbed,  E::WorkerFailed,
                         E::UserStop, E::UserInsists, E::OutputGone, E::LogFailed,  E::NoProgress, E::RanksAlone,
                         E::Regroup,  E::AllCleared,  E::NoMore,     E::AllEnded,   E::Deadline,   E::TimeUp};

AttemptMachine at(S state, TimePoint now = kNow) {
  std::vector<E> way;
  switch (state) {
    case S::Connecting: break;
    case S::Failing: way = {E::HostFailed}; break;
    case S::Probing: way = {E::AllReady}; break;
    case S::Running: way = {E::AllReady, E::AllProbed}; break;
    case S::Stopping: way = {E::UserStop}; break;
    case S::Cleared: way = {E::UserStop, E::AllCleared}; break;
    case S::Leaving: way = {E::UserStop, E::AllCleared, E::NoMore}; break;
    case S::Finished: way = {E::UserStop, E::AllEnded}; break;
  }
  AttemptMachine machine(kStartTimeout, kGrace, kNow);
  for (const E event : way) static_cast<void>(machine.on(event, now));
  REQUIRE(machine.state() == state);
  return machine;
}

}  // namespace

TEST_CASE("an attempt: every state is reached and leads to the end, and every action is asked for") {
  const auto walk = fake::walk(AttemptMachine(kStartTimeout, kGrace, kNow, std::nullopt, 2 * kGrace),
                               std::span<const E>(kEvents), [](AttemptMachine& machine, E event) {
                                 const S before = machine.state();
                                 const A action = machine.on(event, kNow);
                                 if (action == A::Unexpected) CHECK(machine.state() == before);
                                 return action;
                               });
  CHECK(walk.ways.size() == std::size(kStates));
  CHECK(walk.that_end_in(S::Finished).size() == std::size(kStates));
  CHECK(walk.actions.size() == static_cast<std::size_t>(A::GiveUp) + 1);
}

TEST_CASE("an attempt: what is not in the table changes nothing, and says so") {
  std::size_t unexpected = 0;
  for (const S state : kStates) {
    for (const E event : kEvents) {
      CAPTURE(enum_name(state), enum_name(event));
      AttemptMachine machine = at(state);
      const std::optional<TimePoint> before = machine.deadline();
      const A action = machine.on(event, kNow + 1ms);
      if (machine.state() == state && action != A::KillAll) CHECK(machine.deadline() == before);
      if (action != A::Unexpected) continue;
      ++unexpected;
      CHECK(machine.state() == state);
    }
  }
  CHECK(unexpected > 0);
}

TEST_CASE("an attempt: whatever may fail at any time is expected at any time") {
  for (const S state : kStates) {
    for (const E event : {E::OutputGone, E::LogFailed}) {
      CAPTURE(enum_name(state), enum_name(event));
      CHECK(at(state).on(event, kNow) != A::Unexpected);
    }
  }
}

TEST_CASE("an attempt: workers start only in one way, and are stopped whenever it ends early") {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      CAPTURE(enum_name(state), enum_name(event));
      AttemptMachine machine = at(state);
      const A action = machine.on(event, kNow);
      CHECK((action == A::StartAll) == (state == S::Probing && event == E::AllProbed));
      const bool stops =
          action == A::StopAll || action == A::TimeOutStart || action == A::TimeOutRun || action == A::TimeOutRest;
      const auto stopping = [](S s) { return s == S::Stopping || s == S::Leaving; };
      CHECK(stops == (!stopping(state) && stopping(machine.state())));
    }
  }
}

TEST_CASE("every state but a running attempt, a cleared and a finished one has an end") {
  CHECK(at(S::Connecting).deadline() == kNow + kStartTimeout);
  CHECK(at(S::Failing).deadline() == kNow + AttemptMachine::kGather);
  CHECK(at(S::Probing, kNow + 5s).deadline() == kNow + kStartTimeout);
  CHECK_FALSE(at(S::Running).deadline());
  CHECK(at(S::Stopping).deadline() == kNow + kGrace + AttemptMachine::kConfirm);
  CHECK_FALSE(at(S::Finished).deadline());
}

TEST_CASE("a limit on the time of the workers begins with them") {
  AttemptMachine machine(kStartTimeout, kGrace, kNow, 90s);
  CHECK(machine.deadline() == kNow + kStartTimeout);
  static_cast<void>(machine.on(E::AllReady, kNow + 1s));
  CHECK(machine.deadline() == kNow + kStartTimeout);
  static_cast<void>(machine.on(E::AllProbed, kNow + 2s));
  CHECK(machine.deadline() == kNow + 92s);
  CHECK(machine.on(E::Deadline, kNow + 92s) == A::TimeOutRun);
  CHECK(machine.state() == S::Stopping);
  CHECK(machine.deadline() == kNow + 92s + kGrace + AttemptMachine::kConfirm);
}

TEST_CASE("that limit counts between two attempts, too") {
  AttemptMachine machine(kStartTimeout, kGrace, kNow, 90s);
  for (const E event : {E::AllReady, E::AllProbed, E::WorkerFailed}) static_cast<void>(machine.on(event, kNow));
  CHECK(machine.deadline() == kNow + kGrace + AttemptMachine::kConfirm);
  static_cast<void>(machine.on(E::AllCleared, kNow + 1s));
  CHECK(machine.deadline() == kNow + 90s);
  CHECK(machine.on(E::Deadline, kNow + 90s) == A::TimeOutRest);
  CHECK(machine.state() == S::Leaving);
  CHECK(machine.deadline() == kNow + 90s + AttemptMachine::kConfirm);
}

TEST_CASE("that limit counts while the hosts of a further attempt are awaited") {
  for (const S state : {S::Connecting, S::Failing, S::Probing}) {
    AttemptMachine machine = at(state);
    machine.time_is_up_at(kNow + 1s);
    CHECK(machine.deadline() == kNow + 1s);
    CHECK(machine.on(E::Deadline, kNow + 1s) == A::TimeOutRest);
    CHECK(machine.state() == S::Stopping);
    machine = at(state);
    machine.time_is_up_at(kNow + 1h);
    CHECK(machine.deadline() < kNow + 1h);
    CHECK(machine.on(E::Deadline, *machine.deadline()) == at(state).on(E::Deadline, *machine.deadline()));
  }
  AttemptMachine machine(kStartTimeout, kGrace, kNow, 90s);
  machine.time_is_up_at(kNow + 5s);
  for (const E event : {E::AllReady, E::AllProbed}) static_cast<void>(machine.on(event, kNow));
  CHECK(machine.deadline() == kNow + 5s);
}

TEST_CASE("gathering failures never outlasts the time to start") {
  CHECK(at(S::Failing, kNow + 59s).deadline() == kNow + kStartTimeout);
  AttemptMachine machine = at(S::Failing);
  static_cast<void>(machine.on(E::HostFailed, kNow + 1s));  // a further one does not begin it anew
  CHECK(machine.deadline() == kNow + AttemptMachine::kGather);
}

TEST_CASE("a user who insists ends the grace, and changes nothing when he does so again") {
  AttemptMachine machine = at(S::Running);
  CHECK(machine.on(E::UserStop, kNow) == A::StopAll);
  CHECK(machine.on(E::UserInsists, kNow + 1s) == A::KillAll);
  CHECK(machine.deadline() == kNow + 1s + AttemptMachine::kConfirm);
  CHECK(machine.on(E::UserInsists, kNow + 5s) == A::KillAll);
  CHECK(machine.deadline() == kNow + 1s + AttemptMachine::kConfirm);
}

TEST_CASE("insisting late does not put the end off") {
  AttemptMachine machine = at(S::Running);
  static_cast<void>(machine.on(E::UserStop, kNow));
  static_cast<void>(machine.on(E::UserInsists, kNow + kGrace + AttemptMachine::kConfirm - 1s));
  CHECK(machine.deadline() == kNow + kGrace + AttemptMachine::kConfirm);
}

TEST_CASE("a stop of the user joins a stop for another reason, and takes no time from it") {
  for (const E reason : {E::WorkerFailed, E::HostFailed, E::OutputGone, E::NoProgress, E::Regroup}) {
    AttemptMachine machine = at(S::Running);
    CHECK(machine.on(reason, kNow) == A::StopAll);
    const std::optional<TimePoint> deadline = machine.deadline();
    CHECK(machine.on(E::UserStop, kNow + 1s) == A::None);
    CHECK(machine.deadline() == deadline);
    CHECK(machine.on(E::UserInsists, kNow + 2s) == A::KillAll);
  }
}

TEST_CASE("a stop of the user gives a stop for another reason his grace, if that is longer") {
  for (const E reason : {E::WorkerFailed, E::HostFailed, E::OutputGone, E::NoProgress, E::Regroup}) {
    AttemptMachine machine(kStartTimeout, kGrace, kNow, std::nullopt, 100s);
    for (const E event : {E::AllReady, E::AllProbed}) static_cast<void>(machine.on(event, kNow));
    CHECK(machine.on(reason, kNow) == A::StopAll);
    CHECK(machine.grace() == kGrace);
    CHECK(machine.on(E::UserStop, kNow + 1s) == A::GiveTime);
    CHECK(machine.grace() == 100s);
    CHECK(machine.deadline() == kNow + 100s + AttemptMachine::kConfirm);
    CHECK(machine.on(E::UserStop, kNow + 2s) == A::None);
    CHECK(machine.deadline() == kNow + 100s + AttemptMachine::kConfirm);
    CHECK(machine.on(E::UserInsists, kNow + 3s) == A::KillAll);
    CHECK(machine.deadline() == kNow + 3s + AttemptMachine::kConfirm);
  }
}

TEST_CASE("a stop of the user takes no time from another stop, and gives none to workers that are killed") {
  AttemptMachine machine(kStartTimeout, kGrace, kNow, std::nullopt, 1s);
  for (const E event : {E::AllReady, E::AllProbed, E::WorkerFailed}) static_cast<void>(machine.on(event, kNow));
  CHECK(machine.on(E::UserStop, kNow + 1s) == A::None);
  CHECK(machine.grace() == kGrace);
  AttemptMachine killed(kStartTimeout, kGrace, kNow, std::nullopt, 100s);
  for (const E event : {E::AllReady, E::AllProbed, E::WorkerFailed}) static_cast<void>(killed.on(event, kNow));
  CHECK(killed.on(E::UserInsists, kNow + 1s) == A::KillAll);
  CHECK(killed.on(E::UserStop, kNow + 2s) == A::None);
  CHECK(killed.deadline() == kNow + 1s + AttemptMachine::kConfirm);
}

TEST_CASE("news in a stop do not stop again") {
  AttemptMachine machine = at(S::Stopping);
  for (const E event : {E::WorkerFailed, E::HostFailed, E::OutputGone, E::AllReady, E::AllProbed, E::AllSettled}) {
    const A action = machine.on(event, kNow + 1s);
    CHECK((action == A::None || action == A::Unexpected));
    CHECK(machine.state() == S::Stopping);
  }
}

TEST_CASE("from any state deadlines alone lead to the end once the user asked for it") {
  for (const S state : kStates) {
    CAPTURE(enum_name(state));
    AttemptMachine machine = at(state);
    static_cast<void>(machine.on(E::UserStop, kNow));
    if (machine.state() != S::Finished) {
      REQUIRE(machine.deadline().has_value());
      CHECK(machine.on(E::Deadline, *machine.deadline()) == A::GiveUp);
    }
    CHECK(machine.state() == S::Finished);
  }
}

TEST_CASE("an attempt that is cleared waits, and whatever ends the job then lets its hosts go") {
  AttemptMachine machine = at(S::Running);
  CHECK(machine.on(E::AllCleared, kNow) == A::TellCleared);
  CHECK_FALSE(machine.deadline());
  for (const E event : {E::NoMore, E::UserStop, E::OutputGone, E::LogFailed}) {
    CAPTURE(enum_name(event));
    AttemptMachine cleared = at(S::Cleared);
    CHECK(cleared.on(event, kNow) == A::StopAll);
    CHECK(cleared.state() == S::Leaving);
    CHECK(cleared.deadline() == kNow + AttemptMachine::kConfirm);
    CHECK(cleared.on(E::AllEnded, kNow) == A::Finish);
  }
  CHECK(machine.on(E::HostFailed, kNow) == A::None);  // the next attempt may do without it
  CHECK(machine.state() == S::Cleared);
}

TEST_CASE("the names of an attempt's states and events are words of their own") {
  std::set<std::string_view> states;
  std::set<std::string_view> events;
  for (const S state : kStates) CHECK(states.insert(enum_name(state)).second);
  for (const E event : kEvents) CHECK(events.insert(enum_name(event)).second);
  CHECK(states.count("") + events.count("") == 0);
}

TEST_CASE("a stop signal may leave more time than a failure") {
  const TimePoint start{};
  AttemptMachine stopped(60s, 10s, start, std::nullopt, 100s);
  static_cast<void>(stopped.on(AttemptEvent::AllReady, start));
  static_cast<void>(stopped.on(AttemptEvent::AllProbed, start));
  AttemptMachine failed = stopped;
  static_cast<void>(stopped.on(AttemptEvent::UserStop, start));
  CHECK(stopped.grace() == 100s);
  CHECK(stopped.deadline() == start + 100s + AttemptMachine::kConfirm);
  static_cast<void>(failed.on(AttemptEvent::WorkerFailed, start));
  CHECK(failed.grace() == 10s);
  CHECK(failed.deadline() == start + 10s + AttemptMachine::kConfirm);
}
