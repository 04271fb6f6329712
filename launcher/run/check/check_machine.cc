#include "launcher/run/check/check_machine.h"

#include "common/core/transition_table.h"

namespace sml::run {

namespace {

using S = CheckState;
using E = CheckEvent;
using A = CheckAction;
using Row = Transition<S, E, A>;

constexpr Row kTable[] = {
    {S::Asking, E::AllAnswered, S::Probing, A::Probe},  {S::Asking, E::Deadline, S::Probing, A::Probe},
    {S::Asking, E::UserStop, S::Leaving, A::Dismiss},   {S::Asking, E::AllEnded, S::Over, A::Finish},

    {S::Probing, E::AllProbed, S::Leaving, A::Dismiss}, {S::Probing, E::Deadline, S::Leaving, A::Dismiss},
    {S::Probing, E::UserStop, S::Leaving, A::Dismiss},  {S::Probing, E::AllEnded, S::Over, A::Finish},

    {S::Leaving, E::AllEnded, S::Over, A::Finish},      {S::Leaving, E::Deadline, S::Over, A::Finish},
    {S::Leaving, E::UserStop, S::Over, A::Finish},

    {S::Over, E::UserStop, S::Over, A::None},  // the outcome is being sent to the hosts
    {S::Over, E::AllEnded, S::Over, A::None},
};
static_assert(no_pair_twice(kTable));

}  // namespace

CheckAction CheckMachine::on(CheckEvent event, TimePoint now) {
  const Row* row = find_row(kTable, state_, event);
  if (row == nullptr) return A::Unexpected;
  state_ = row->next;
  if (state_ == S::Probing) deadline_ = now + kProbing;
  if (state_ == S::Leaving) deadline_ = now + kLeaving;
  if (state_ == S::Over) deadline_.reset();
  return row->action;
}

}  // namespace sml::run
