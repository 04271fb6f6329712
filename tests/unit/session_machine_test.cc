#include "launcher/transport/session/session_machine.h"

#include <set>

#include "common/core/transition_table.h"
#include "tests/support/catch.h"

using namespace sml::transport;
using sml::enum_name;
using S = SessionState;
using E = SessionEvent;
using A = SessionAction;

namespace {

constexpr S kStates[] = {S::Starting, S::Greeting, S::Preparing, S::Ready,
                         S::Running,  S::Cleared,  S::Leaving,   S::Ended};
constexpr E kEvents[] = {E::Opened,      E::NeedAgent, E::AgentRuns,  E::Hello,      E::Prepared, E::Probed,
                         E::PrepareSent, E::StartSent, E::WorkerNews, E::InputTaken, E::Added,    E::AnyTime,
                         E::Cleared,     E::Bye,       E::Broken,     E::Closed};

SessionMachine at(S state) {
  const std::vector<E> way = {E::Opened, E::AgentRuns, E::Prepared, E::StartSent, E::Cleared, E::Bye, E::Closed};
  SessionMachine machine;
  for (const E event : way) {
    if (machine.state() == state) break;
    static_cast<void>(machine.on(event));
  }
  REQUIRE(machine.state() == state);
  return machine;
}

struct Expectation {
  S state;
  E event;
  S next;
  A action;
};

// What may come in each state. Anything else is refused; after the end nothing counts.
const Expectation kExpected[] = {
    {S::Starting, E::Opened, S::Greeting, A::None},
    {S::Starting, E::Closed, S::Ended, A::TellLost},
    {S::Greeting, E::NeedAgent, S::Greeting, A::SendAgent},
    {S::Greeting, E::AgentRuns, S::Preparing, A::Introduce},
    {S::Greeting, E::Broken, S::Starting, A::StartAgain},
    {S::Greeting, E::Closed, S::Ended, A::TellLost},
    {S::Preparing, E::Hello, S::Preparing, A::Deliver},
    {S::Preparing, E::Prepared, S::Ready, A::TellReady},
    {S::Preparing, E::AnyTime, S::Preparing, A::Deliver},
    {S::Preparing, E::Probed, S::Preparing, A::None},
    {S::Preparing, E::InputTaken, S::Preparing, A::None},
    {S::Preparing, E::Bye, S::Leaving, A::Deliver},
    {S::Preparing, E::Closed, S::Ended, A::TellLost},
    {S::Ready, E::Probed, S::Ready, A::Deliver},
    {S::Ready, E::StartSent, S::Running, A::None},
    {S::Ready, E::AnyTime, S::Ready, A::Deliver},
    {S::Ready, E::Cleared, S::Cleared, A::Deliver},
    {S::Ready, E::Bye, S::Leaving, A::Deliver},
    {S::Ready, E::Closed, S::Ended, A::TellLost},
    {S::Running, E::WorkerNews, S::Running, A::Deliver},
    {S::Running, E::InputTaken, S::Running, A::Deliver},
    {S::Running, E::Cleared, S::Cleared, A::Deliver},
    {S::Running, E::Probed, S::Running, A::None},
    {S::Running, E::AnyTime, S::Running, A::Deliver},
    {S::Running, E::Bye, S::Leaving, A::Deliver},
    {S::Running, E::Closed, S::Ended, A::TellLost},
    {S::Cleared, E::PrepareSent, S::Preparing, A::None},
    {S::Cleared, E::InputTaken, S::Cleared, A::Deliver},
    {S::Cleared, E::Probed, S::Cleared, A::None},
    {S::Cleared, E::AnyTime, S::Cleared, A::Deliver},
    {S::Cleared, E::Bye, S::Leaving, A::Deliver},
    {S::Cleared, E::Closed, S::Ended, A::TellLost},
    {S::Leaving, E::AnyTime, S::Leaving, A::None},
    {S::Leaving, E::Probed, S::Leaving, A::None},
    {S::Leaving, E::Closed, S::Ended, A::TellEnd},
    // The workers of a host may end while the request to add some is on its way.
    {S::Running, E::Added, S::Running, A::Deliver},
    {S::Cleared, E::Added, S::Cleared, A::Deliver},
    {S::Preparing, E::Added, S::Preparing, A::None},
};

}  // namespace

TEST_CASE("a session: every state and every event") {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      CAPTURE(enum_name(state), enum_name(event));
      const Expectation* expected = nullptr;
      for (const Expectation& row : kExpected) {
        if (row.state == state && row.event == event) expected = &row;
      }
      SessionMachine machine = at(state);
      const A action = machine.on(event);
      const A otherwise = state == S::Ended ? A::None : A::Refuse;
      CHECK(action == (expected != nullptr ? expected->action : otherwise));
      CHECK(machine.state() == (expected != nullptr ? expected->next : state));
    }
  }
}

TEST_CASE("a session ends from anywhere, and stays so") {
  for (const S state : kStates) {
    SessionMachine machine = at(state);
    machine.end();
    CHECK(machine.state() == S::Ended);
    for (const E event : kEvents) {
      CHECK(machine.on(event) == A::None);
      CHECK(machine.state() == S::Ended);
    }
  }
}

TEST_CASE("a session: whatever state it is in, a transport that closes ends it") {
  for (const S state : kStates) {
    SessionMachine machine = at(state);
    const A action = machine.on(E::Closed);
    CHECK(machine.state() == S::Ended);
    CHECK(action == (state == S::Ended ? A::None : state == S::Leaving ? A::TellEnd : A::TellLost));
  }
}

TEST_CASE("a session: every action is asked for by some pair") {
  std::set<A> asked;
  for (const S state : kStates) {
    for (const E event : kEvents) asked.insert(at(state).on(event));
  }
  CHECK(asked == std::set<A>{A::None, A::Refuse, A::SendAgent, A::StartAgain, A::Introduce, A::TellReady, A::Deliver,
                             A::TellEnd, A::TellLost});
}

TEST_CASE("the names of a session's states and events are words of their own") {
  std::set<std::string_view> states;
  std::set<std::string_view> events;
  for (const S state : kStates) CHECK(states.insert(enum_name(state)).second);
  for (const E event : kEvents) CHECK(events.insert(enum_name(event)).second);
  CHECK(states.count("") + events.count("") == 0);
}
