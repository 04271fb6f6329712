#include "launcher/run/run_machine.h"

#include "common/core/transition_table.h"

namespace sml::run {

namespace {

using S = RunState;
using E = RunEvent;
using A = RunAction;
using Row = Transition<S, E, A>;

constexpr Row kTable[] = {
    {S::Gathering, E::WorkersStart, S::Attempting, A::None},
    {S::Gathering, E::AttemptOver, S::Leaving, A::AwaitReader},
    {S::Gathering, E::AttemptGivenUp, S::Over, A::Finish},
    {S::Gathering, E::AttemptCleared, S::Clearing, A::Decide},

    {S::Attempting, E::AttemptOver, S::Leaving, A::AwaitReader},
    {S::Attempting, E::AttemptGivenUp, S::Over, A::Finish},
    {S::Attempting, E::AttemptCleared, S::Clearing, A::Decide},

    {S::Clearing, E::Again, S::Resting, A::Rest},
    {S::Clearing, E::OneMachine, S::Regrouping, A::Replan},
    {S::Clearing, E::AttemptOver, S::Leaving, A::AwaitReader},
    {S::Clearing, E::AttemptGivenUp, S::Over, A::Finish},

    {S::Resting, E::Rested, S::Gathering, A::Begin},
    {S::Resting, E::AttemptOver, S::Leaving, A::AwaitReader},
    {S::Resting, E::AttemptGivenUp, S::Over, A::Finish},

    {S::Regrouping, E::Replanned, S::Gathering, A::BeginAnew},
    {S::Regrouping, E::AttemptOver, S::Leaving, A::AwaitReader},  // the job cannot be planned again
    {S::Regrouping, E::AttemptGivenUp, S::Over, A::Finish},

    {S::Leaving, E::ReaderDone, S::Over, A::Finish},
    {S::Leaving, E::UserStop, S::Over, A::Finish},

    {S::Over, E::UserStop, S::Over, A::Finish},  // does not wait for hosts that are receiving the outcome
    {S::Over, E::ReaderDone, S::Over, A::None},  // late
};
static_assert(no_pair_twice(kTable));

}  // namespace

RunAction RunMachine::on(RunEvent event) {
  const Row* row = find_row(kTable, state_, event);
  if (row == nullptr) return A::Unexpected;
  state_ = row->next;
  return row->action;
}

}  // namespace sml::run
