#include "launcher/agent/machines/agent_machine.h"

#include <map>
#include <set>
#include <vector>

#include "common/core/transition_table.h"
#include "tests/support/catch.h"

using namespace sml::agent;
using sml::enum_name;
using S = AgentState;
using E = AgentEvent;
using A = AgentAction;

namespace {

constexpr S kStates[] = {S::Awaiting, S::Idle, S::Prepared, S::Running, S::Last, S::Cleared, S::Gone};
constexpr E kEvents[] = {E::Hello,    E::OtherVersion, E::Prepare, E::Start, E::Stop,         E::EndLeft,
                         E::Question, E::ForWorkers,   E::Leave,   E::Over,  E::LauncherLost, E::ToldToEnd};
constexpr A kActions[] = {A::None,  A::Unexpected, A::Greet,         A::RefuseVersion, A::Prepare,
                          A::Start, A::Stop,       A::Abandon,       A::EndLeft,       A::Answer,
                          A::Pass,  A::Clear,      A::ClearAndLeave, A::Leave};

AgentMachine after(AgentMachine machine, std::initializer_list<E> events) {
  for (const E event : events) static_cast<void>(machine.on(event));
  return machine;
}

// A machine in each state that can be reached.
std::map<S, AgentMachine> reachable() {
  std::map<S, AgentMachine> found;
  std::vector<AgentMachine> open{AgentMachine()};
  while (!open.empty()) {
    const AgentMachine machine = open.back();
    open.pop_back();
    if (!found.emplace(machine.state(), machine).second) continue;
    for (const E event : kEvents) open.push_back(after(machine, {event}));
  }
  return found;
}

}  // namespace

TEST_CASE("agent machine: every state is reached, and has a name of its own") {
  CHECK(reachable().size() == std::size(kStates));
  std::set<std::string_view> names;
  for (const S state : kStates) names.insert(enum_name(state));
  CHECK(names.size() == std::size(kStates));
  names.clear();
  for (const E event : kEvents) names.insert(enum_name(event));
  CHECK(names.size() == std::size(kEvents));
}

TEST_CASE("agent machine: every action is asked for by some pair") {
  std::set<A> asked;
  for (auto& [state, machine] : reachable()) {
    for (const E event : kEvents) asked.insert(AgentMachine(machine).on(event));
  }
  CHECK(asked.size() == std::size(kActions));
}

TEST_CASE("agent machine: whatever state it is in, without a launcher it leaves once what runs is over") {
  for (const E why : {E::LauncherLost, E::ToldToEnd}) {
    for (auto& [state, machine] : reachable()) {
      CAPTURE(enum_name(state), enum_name(why));
      AgentMachine ending = machine;
      const A first = ending.on(why);
      if (state == S::Gone) {
        CHECK(first == A::None);
      } else if (first == A::Leave) {
        CHECK(ending.gone());
      } else {
        CHECK((first == A::Abandon || first == A::Stop));
        CHECK(ending.on(E::Over) == A::ClearAndLeave);
        CHECK(ending.gone());
      }
    }
  }
}

TEST_CASE("agent machine: the last word is said once, and nothing follows it") {
  for (auto& [state, machine] : reachable()) {
    for (const E event : kEvents) {
      CAPTURE(enum_name(state), enum_name(event));
      AgentMachine next = machine;
      const A action = next.on(event);
      const bool last_word = action == A::Leave || action == A::RefuseVersion || action == A::ClearAndLeave;
      CHECK(last_word == (next.gone() && !machine.gone()));
      if (!next.gone()) continue;
      for (const E late : kEvents) CHECK(next.on(late) == A::None);
    }
  }
}

TEST_CASE("agent machine: workers are asked for only while an attempt has them") {
  for (auto& [state, machine] : reachable()) {
    for (const E event : kEvents) {
      CAPTURE(enum_name(state), enum_name(event));
      const A action = AgentMachine(machine).on(event);
      const bool for_attempt = action == A::Start || action == A::Stop || action == A::Abandon || action == A::Pass;
      if (for_attempt) CHECK((state != S::Awaiting && state != S::Idle && state != S::Gone));
    }
  }
}

TEST_CASE("agent machine: nobody is obeyed before a Hello, and one is enough") {
  for (const E event : {E::Prepare, E::Start, E::Stop, E::EndLeft, E::Question, E::ForWorkers, E::Leave}) {
    AgentMachine machine;
    CHECK(machine.on(event) == A::None);
    CHECK_FALSE(machine.greeted());
  }
  for (auto& [state, machine] : reachable()) {
    if (state == S::Awaiting || state == S::Gone) continue;
    CHECK(AgentMachine(machine).on(E::Hello) == A::Unexpected);
  }
}

TEST_CASE("agent machine: what no row names changes nothing") {
  for (auto& [state, machine] : reachable()) {
    for (const E event : kEvents) {
      AgentMachine next = machine;
      if (next.on(event) == A::Unexpected) CHECK(next.state() == state);
    }
  }
  AgentMachine prepared = after(AgentMachine(), {E::Hello, E::Prepare});
  CHECK(prepared.on(E::Prepare) == A::Unexpected);
  CHECK(prepared.on(E::EndLeft) == A::Unexpected);
}

TEST_CASE("agent machine: attempts follow each other, and it leaves only when it is told to") {
  AgentMachine machine = after(AgentMachine(), {E::Hello});
  for (int attempt = 0; attempt < 3; ++attempt) {
    CHECK(machine.on(E::Prepare) == A::Prepare);
    CHECK(machine.on(E::Start) == A::Start);
    CHECK(machine.on(E::Prepare) == A::Unexpected);  // before it is over
    CHECK(machine.on(E::Over) == A::Clear);
    CHECK(machine.on(E::ForWorkers) == A::Pass);  // it serves other hosts still
    CHECK(machine.on(E::Stop) == A::None);
  }
  CHECK(machine.on(E::Leave) == A::Leave);
}

TEST_CASE("agent machine: told to leave beforehand, it does when the attempt is over") {
  for (const E end : {E::Stop, E::Start}) {
    AgentMachine machine = after(AgentMachine(), {E::Hello, E::Prepare, end});
    CHECK(machine.on(E::Leave) == A::None);
    CHECK(machine.on(E::Prepare) == A::Unexpected);
    CHECK(machine.on(E::Over) == A::ClearAndLeave);
  }
  AgentMachine prepared = after(AgentMachine(), {E::Hello, E::Prepare});
  CHECK(prepared.on(E::Leave) == A::Stop);  // nobody will start it
  CHECK(prepared.on(E::Over) == A::ClearAndLeave);
}
