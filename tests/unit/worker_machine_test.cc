#include "launcher/agent/machines/worker_machine.h"

#include <set>

#include "common/core/transition_table.h"
#include "tests/support/catch.h"
#include "tests/support/machine_walk.h"

using namespace sml;
using namespace sml::agent;
using S = WorkerState;
using E = WorkerEvent;
using A = WorkerAction;

namespace {

constexpr S kStates[] = {S::Planned,        S::Running,  S::RunningSilent, S::Stopping,
                         S::StoppingSilent, S::Draining, S::Done};
constexpr E kEvents[] = {E::Spawned, E::SpawnFailed, E::StopAsked, E::Reaped, E::OutputEnded, E::DrainOver};

// A machine that has come to `state` by the shortest way.
WorkerMachine at(S state) {
  std::vector<E> way;
  switch (state) {
    case S::Planned: break;
    case S::Running: way = {E::Spawned}; break;
    case S::RunningSilent: way = {E::Spawned, E::OutputEnded}; break;
    case S::Stopping: way = {E::Spawned, E::StopAsked}; break;
    case S::StoppingSilent: way = {E::Spawned, E::StopAsked, E::OutputEnded}; break;
    case S::Draining: way = {E::Spawned, E::Reaped}; break;
    case S::Done: way = {E::Spawned, E::Reaped, E::OutputEnded}; break;
  }
  WorkerMachine machine;
  for (const E event : way) static_cast<void>(machine.on(event));
  REQUIRE(machine.state() == state);
  return machine;
}

}  // namespace

TEST_CASE("a worker: every state is reached and leads to the end, and every action is asked for") {
  const auto walk = fake::walk(WorkerMachine(), std::span<const E>(kEvents), [](WorkerMachine& machine, E event) {
    const S before = machine.state();
    const A action = machine.on(event);
    if (action == A::Unexpected) CHECK(machine.state() == before);
    return action;
  });
  CHECK(walk.ways.size() == std::size(kStates));
  CHECK(walk.that_end_in(S::Done).size() == std::size(kStates));
  CHECK(walk.actions.size() == static_cast<std::size_t>(A::AbandonOutput) + 1);
}

TEST_CASE("a worker: it may be asked to stop at any time, and that tells nobody anything") {
  for (const S state : kStates) {
    CAPTURE(enum_name(state));
    CHECK(at(state).on(E::StopAsked) == A::None);
  }
}

TEST_CASE("a worker: its two ends come in either order") {
  for (const bool stopped : {false, true}) {
    WorkerMachine machine = at(stopped ? S::Stopping : S::Running);
    CHECK(machine.on(E::Reaped) == A::ReportExit);
    CHECK(machine.on(E::OutputEnded) == A::ReportDrained);
    CHECK(machine.done());
    machine = at(stopped ? S::Stopping : S::Running);
    CHECK(machine.on(E::OutputEnded) == A::None);
    CHECK(machine.on(E::Reaped) == A::ReportExitAndDrained);
    CHECK(machine.done());
  }
}

TEST_CASE("a worker: one that is not started, or cannot be, is done") {
  CHECK(at(S::Planned).on(E::SpawnFailed) == A::ReportExitAndDrained);
  WorkerMachine machine = at(S::Planned);
  CHECK(machine.on(E::StopAsked) == A::None);
  CHECK(machine.done());
  CHECK(machine.on(E::Spawned) == A::Unexpected);
}

TEST_CASE("a worker: output that nobody ends is given up once") {
  WorkerMachine machine = at(S::Draining);
  CHECK(machine.on(E::DrainOver) == A::AbandonOutput);
  CHECK(machine.on(E::DrainOver) == A::None);
  CHECK(machine.on(E::OutputEnded) == A::None);  // the pipes that we abandoned
}

TEST_CASE("a worker is alive between its start and its reaping") {
  for (const S state : kStates) {
    CAPTURE(enum_name(state));
    const bool expected =
        state == S::Running || state == S::RunningSilent || state == S::Stopping || state == S::StoppingSilent;
    CHECK(at(state).alive() == expected);
  }
}

TEST_CASE("only a stop that found the worker alive counts as ours") {
  for (const S state : kStates) {
    CAPTURE(enum_name(state));
    WorkerMachine machine = at(state);
    const bool before = machine.asked_to_stop();
    static_cast<void>(machine.on(E::StopAsked));
    CHECK(machine.asked_to_stop() == (before || at(state).alive()));
  }
  WorkerMachine ended = at(S::Draining);
  static_cast<void>(ended.on(E::StopAsked));
  CHECK_FALSE(ended.asked_to_stop());
}

TEST_CASE("whatever happens in whatever order, an end and a drain are told at most once") {
  // all sequences of six events
  std::size_t total = 1;
  for (int i = 0; i < 6; ++i) total *= std::size(kEvents);
  for (std::size_t code = 0; code < total; ++code) {
    WorkerMachine machine;
    int exits = 0;
    int drains = 0;
    bool ordered = true;
    std::size_t rest = code;
    for (int i = 0; i < 6; ++i, rest /= std::size(kEvents)) {
      switch (machine.on(kEvents[rest % std::size(kEvents)])) {
        case A::None:
        case A::Unexpected: break;
        case A::ReportExit: ++exits; break;
        case A::ReportExitAndDrained: ++exits, ++drains; break;
        case A::ReportDrained:
        case A::AbandonOutput: ordered = ordered && exits == 1, ++drains; break;
      }
    }
    if (exits <= 1 && drains <= exits && ordered) continue;
    CAPTURE(code, exits, drains, ordered);
    FAIL("told wrongly");
  }
}

TEST_CASE("the names of a worker's states and events are words of their own") {
  std::set<std::string_view> names;
  for (const S state : kStates) CHECK(names.insert(enum_name(state)).second);
  for (const E event : kEvents) CHECK(names.insert(enum_name(event)).second);
  CHECK(names.count("") == 0);
}
