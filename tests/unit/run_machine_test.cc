#include "launcher/run/run_machine.h"

#include <set>
#include <vector>

#include "common/core/transition_table.h"
#include "tests/support/catch.h"
#include "tests/support/machine_walk.h"

using namespace sml;
using namespace sml::run;
using S = RunState;
using E = RunEvent;
using A = RunAction;

namespace {

constexpr S kStates[] = {S::Gathering, S::Attempting, S::Clearing, S::Resting, S::Regrouping, S::Leaving, S::Over};
constexpr E kEvents[] = {E::WorkersStart, E::AttemptCleared, E::OneMachine,     E::Replanned,  E::Again,
                         E::Rested,       E::AttemptOver,    E::AttemptGivenUp, E::ReaderDone, E::UserStop};

RunMachine at(S state) {
  std::vector<E> way;
  switch (state) {
    case S::Gathering: break;
    case S::Attempting: way = {E::WorkersStart}; break;
    case S::Clearing: way = {E::WorkersStart, E::AttemptCleared}; break;
    case S::Resting: way = {E::WorkersStart, E::AttemptCleared, E::Again}; break;
    case S::Regrouping: way = {E::AttemptCleared, E::OneMachine}; break;
    case S::Leaving: way = {E::AttemptOver}; break;
    case S::Over: way = {E::AttemptGivenUp}; break;
  }
  RunMachine machine;
  for (const E event : way) static_cast<void>(machine.on(event));
  REQUIRE(machine.state() == state);
  return machine;
}

}  // namespace

TEST_CASE("a run: every state is reached and leads to the end, and every action is asked for") {
  const auto walk = fake::walk(RunMachine(), std::span<const E>(kEvents), [](RunMachine& machine, E event) {
    const S before = machine.state();
    const A action = machine.on(event);
    if (action == A::Unexpected) CHECK(machine.state() == before);
    return action;
  });
  CHECK(walk.ways.size() == std::size(kStates));
  CHECK(walk.that_end_in(S::Over).size() == std::size(kStates));
  CHECK(walk.actions.size() == static_cast<std::size_t>(A::Finish) + 1);
}

TEST_CASE("a run: the end is reached only with an action that ends the wait") {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      RunMachine machine = at(state);
      const A action = machine.on(event);
      if (state != S::Over && machine.state() == S::Over) CHECK(action == A::Finish);
    }
  }
}

TEST_CASE("a run: the reader is waited for, but not against the user's will") {
  RunMachine machine = at(S::Attempting);
  CHECK(machine.on(E::AttemptOver) == A::AwaitReader);
  CHECK(machine.on(E::UserStop) == A::Finish);
  CHECK(machine.state() == S::Over);
}

TEST_CASE("a run: hosts that have not confirmed the end are the end") {
  RunMachine machine = at(S::Attempting);
  CHECK(machine.on(E::AttemptGivenUp) == A::Finish);
}

TEST_CASE("a run: names turn out to be one machine once nothing is left, and the job is planned anew or ends") {
  CHECK(at(S::Gathering).on(E::OneMachine) == A::Unexpected);
  CHECK(at(S::Attempting).on(E::OneMachine) == A::Unexpected);
  RunMachine machine = at(S::Clearing);
  CHECK(machine.on(E::OneMachine) == A::Replan);
  CHECK(machine.on(E::Replanned) == A::BeginAnew);
  CHECK(machine.state() == S::Gathering);
  CHECK(at(S::Regrouping).on(E::AttemptOver) == A::AwaitReader);
  CHECK(at(S::Regrouping).on(E::AttemptGivenUp) == A::Finish);
}

TEST_CASE("a run: another attempt begins when the one before is cleared and the rest is over, and not otherwise") {
  RunMachine machine = at(S::Attempting);
  CHECK(machine.on(E::AttemptCleared) == A::Decide);
  CHECK(machine.on(E::Again) == A::Rest);
  CHECK(machine.on(E::Rested) == A::Begin);
  CHECK(machine.state() == S::Gathering);
  for (const S state : kStates) {
    for (const E event : kEvents)
      CHECK((at(state).on(event) == A::Begin) == (state == S::Resting && event == E::Rested));
  }
}

TEST_CASE("a run: the end of its attempt while it rests is its own") {
  CHECK(at(S::Resting).on(E::AttemptOver) == A::AwaitReader);
  CHECK(at(S::Clearing).on(E::AttemptOver) == A::AwaitReader);
}

TEST_CASE("the names of a run's states and events are words of their own") {
  std::set<std::string_view> words;
  for (const S state : kStates) CHECK(words.insert(enum_name(state)).second);
  for (const E event : kEvents) CHECK(words.insert(enum_name(event)).second);
  CHECK(words.count("") == 0);
}
