#include "launcher/run/check/check_machine.h"

#include "tests/support/catch.h"
#include "tests/support/machine_walk.h"

using namespace sml;
using namespace sml::run;
using namespace std::chrono_literals;

namespace {
using S = CheckState;
using E = CheckEvent;
using A = CheckAction;

constexpr TimePoint kBegin{1000s};
constexpr S kStates[] = {S::Asking, S::Probing, S::Leaving, S::Over};
constexpr E kEvents[] = {E::AllAnswered, E::AllProbed, E::UserStop, E::AllEnded, E::Deadline};
}  // namespace

TEST_CASE("a check: every state is reached and leads to the end, and every action is asked for") {
  const auto walk =
      fake::walk(CheckMachine(60s, kBegin), std::span<const E>(kEvents), [](CheckMachine& machine, E event) {
        const S before = machine.state();
        const A action = machine.on(event, kBegin);
        if (action == A::Unexpected) CHECK(machine.state() == before);
        return action;
      });
  CHECK(walk.ways.size() == std::size(kStates));
  CHECK(walk.that_end_in(S::Over).size() == std::size(kStates));
  CHECK(walk.actions.size() == static_cast<std::size_t>(A::Finish) + 1);
}

TEST_CASE("a check asks, lets the hosts try each other, and lets them go") {
  CheckMachine machine(60s, kBegin);
  CHECK(machine.deadline() == kBegin + 60s);
  CHECK(machine.on(CheckEvent::AllProbed, kBegin) == CheckAction::Unexpected);
  CHECK(machine.on(CheckEvent::AllAnswered, kBegin + 1s) == CheckAction::Probe);
  CHECK(machine.on(CheckEvent::AllAnswered, kBegin + 1s) == CheckAction::Unexpected);
  CHECK(machine.deadline() == kBegin + 1s + CheckMachine::kProbing);
  CHECK(machine.on(CheckEvent::AllProbed, kBegin + 2s) == CheckAction::Dismiss);
  CHECK(machine.deadline() == kBegin + 2s + CheckMachine::kLeaving);
  CHECK(machine.on(CheckEvent::AllEnded, kBegin + 3s) == CheckAction::Finish);
  CHECK(machine.state() == CheckState::Over);
  CHECK_FALSE(machine.deadline());
  CHECK(machine.on(CheckEvent::UserStop, kBegin + 4s) == CheckAction::None);
}

TEST_CASE("a check waits for no host for ever") {
  CheckMachine machine(60s, kBegin);
  CHECK(machine.on(CheckEvent::Deadline, kBegin + 60s) == CheckAction::Probe);
  CHECK(machine.on(CheckEvent::Deadline, kBegin + 70s) == CheckAction::Dismiss);
  CHECK(machine.on(CheckEvent::Deadline, kBegin + 75s) == CheckAction::Finish);
}

TEST_CASE("the user ends a check, the second time at once") {
  CheckMachine machine(60s, kBegin);
  CHECK(machine.on(CheckEvent::UserStop, kBegin) == CheckAction::Dismiss);
  CHECK(machine.on(CheckEvent::UserStop, kBegin) == CheckAction::Finish);
}

TEST_CASE("a check of hosts that all fail is over at once") {
  CheckMachine machine(60s, kBegin);
  CHECK(machine.on(CheckEvent::AllEnded, kBegin) == CheckAction::Finish);
}
