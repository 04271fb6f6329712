#include "common/supervise/worker_machine.h"

#include <set>

#include "tests/support/catch.h"

using namespace sml::supervise;
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
  for (const E event : way) machine.on(event);
  REQUIRE(machine.state() == state);
  REQUIRE(machine.unexpected() == 0);
  return machine;
}

struct Expectation {
  S state;
  E event;
  S next;
  A action;
};

// From the words of the header: what may happen in each state and what must be told then. All other pairs cannot
// happen.
const Expectation kExpected[] = {
    // not started yet: it starts, or cannot, or need not any more
    {S::Planned, E::Spawned, S::Running, A::None},
    {S::Planned, E::SpawnFailed, S::Done, A::ReportExitAndDrained},
    {S::Planned, E::StopAsked, S::Done, A::None},
    // running: both ends, in either order
    {S::Running, E::Reaped, S::Draining, A::ReportExit},
    {S::Running, E::OutputEnded, S::RunningSilent, A::None},
    {S::Running, E::StopAsked, S::Stopping, A::None},
    {S::RunningSilent, E::Reaped, S::Done, A::ReportExitAndDrained},
    {S::RunningSilent, E::StopAsked, S::StoppingSilent, A::None},
    // being stopped: the same
    {S::Stopping, E::Reaped, S::Draining, A::ReportExit},
    {S::Stopping, E::OutputEnded, S::StoppingSilent, A::None},
    {S::Stopping, E::StopAsked, S::Stopping, A::None},
    {S::StoppingSilent, E::Reaped, S::Done, A::ReportExitAndDrained},
    {S::StoppingSilent, E::StopAsked, S::StoppingSilent, A::None},
    // reaped: only the output is awaited
    {S::Draining, E::OutputEnded, S::Done, A::ReportDrained},
    {S::Draining, E::DrainOver, S::Done, A::AbandonOutput},
    {S::Draining, E::StopAsked, S::Draining, A::None},
    // done: late news
    {S::Done, E::StopAsked, S::Done, A::None},
    {S::Done, E::OutputEnded, S::Done, A::None},
    {S::Done, E::DrainOver, S::Done, A::None},
};

}  // namespace

TEST_CASE("a worker: every state and every event") {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      CAPTURE(name(state), name(event));
      const Expectation* expected = nullptr;
      for (const Expectation& row : kExpected) {
        if (row.state == state && row.event == event) expected = &row;
      }
      WorkerMachine machine = at(state);
      const A action = machine.on(event);
      CHECK(action == (expected != nullptr ? expected->action : A::None));
      CHECK(machine.state() == (expected != nullptr ? expected->next : state));
      CHECK(machine.unexpected() == (expected != nullptr ? 0 : 1));
      CHECK(machine.done() == (machine.state() == S::Done));
    }
  }
}

TEST_CASE("a worker is alive between its start and its reaping") {
  for (const S state : kStates) {
    CAPTURE(name(state));
    const bool expected =
        state == S::Running || state == S::RunningSilent || state == S::Stopping || state == S::StoppingSilent;
    CHECK(at(state).alive() == expected);
  }
}

TEST_CASE("only a stop that found the worker alive counts as ours") {
  for (const S state : kStates) {
    CAPTURE(name(state));
    WorkerMachine machine = at(state);
    const bool before = machine.asked_to_stop();
    machine.on(E::StopAsked);
    CHECK(machine.asked_to_stop() == (before || at(state).alive()));
  }
  WorkerMachine ended = at(S::Draining);
  ended.on(E::StopAsked);
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
        case A::None: break;
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
  for (const S state : kStates) CHECK(names.insert(name(state)).second);
  for (const E event : kEvents) CHECK(names.insert(name(event)).second);
  CHECK(names.count("") == 0);
}
