#include "launcher/agent/machines/agent_machine.h"

#include "common/core/transition_table.h"

namespace sml::agent {

namespace {

using S = AgentState;
using E = AgentEvent;
using A = AgentAction;
using Row = Transition<S, E, A>;

constexpr Row kTable[] = {
    {S::Awaiting, E::Hello, S::Idle, A::Greet},
    {S::Awaiting, E::OtherVersion, S::Gone, A::RefuseVersion},
    {S::Awaiting, E::LauncherLost, S::Gone, A::Leave},
    {S::Awaiting, E::ToldToEnd, S::Gone, A::Leave},
    {S::Awaiting, E::Prepare, S::Awaiting, A::None},  // not from a known launcher, as all that follow
    {S::Awaiting, E::Start, S::Awaiting, A::None},
    {S::Awaiting, E::Stop, S::Awaiting, A::None},
    {S::Awaiting, E::EndLeft, S::Awaiting, A::None},
    {S::Awaiting, E::Question, S::Awaiting, A::None},
    {S::Awaiting, E::ForWorkers, S::Awaiting, A::None},
    {S::Awaiting, E::Leave, S::Awaiting, A::None},

    {S::Idle, E::Prepare, S::Prepared, A::Prepare},
    {S::Idle, E::EndLeft, S::Idle, A::EndLeft},
    {S::Idle, E::Question, S::Idle, A::Answer},
    {S::Idle, E::ForWorkers, S::Idle, A::None},  // there are no workers
    {S::Idle, E::Stop, S::Idle, A::None},
    {S::Idle, E::Leave, S::Gone, A::Leave},
    {S::Idle, E::LauncherLost, S::Gone, A::Leave},
    {S::Idle, E::ToldToEnd, S::Gone, A::Leave},

    {S::Prepared, E::Start, S::Running, A::Start},
    {S::Prepared, E::Question, S::Prepared, A::Answer},
    {S::Prepared, E::ForWorkers, S::Prepared, A::None},  // there are no workers yet
    {S::Prepared, E::Stop, S::Running, A::Stop},
    {S::Prepared, E::Leave, S::Last, A::Stop},
    {S::Prepared, E::LauncherLost, S::Last, A::Abandon},
    {S::Prepared, E::ToldToEnd, S::Last, A::Stop},

    {S::Running, E::Question, S::Running, A::Answer},
    {S::Running, E::ForWorkers, S::Running, A::Pass},
    {S::Running, E::Stop, S::Running, A::Stop},
    {S::Running, E::Leave, S::Last, A::None},
    {S::Running, E::Over, S::Cleared, A::Clear},
    {S::Running, E::LauncherLost, S::Last, A::Abandon},
    {S::Running, E::ToldToEnd, S::Last, A::Stop},

    {S::Last, E::Question, S::Last, A::Answer},
    {S::Last, E::ForWorkers, S::Last, A::Pass},
    {S::Last, E::Start, S::Last, A::None},  // sent before the launcher learned that the agent ends
    {S::Last, E::Stop, S::Last, A::Stop},
    {S::Last, E::Leave, S::Last, A::None},
    {S::Last, E::Over, S::Gone, A::ClearAndLeave},
    {S::Last, E::LauncherLost, S::Last, A::Abandon},
    {S::Last, E::ToldToEnd, S::Last, A::Stop},

    {S::Cleared, E::Prepare, S::Prepared, A::Prepare},
    {S::Cleared, E::Question, S::Cleared, A::Answer},
    {S::Cleared, E::ForWorkers, S::Cleared, A::Pass},
    {S::Cleared, E::Stop, S::Cleared, A::None},  // sent before the launcher learned that the attempt is over
    {S::Cleared, E::Leave, S::Gone, A::Leave},
    {S::Cleared, E::LauncherLost, S::Gone, A::Leave},
    {S::Cleared, E::ToldToEnd, S::Gone, A::Leave},
};
static_assert(no_pair_twice(kTable));

}  // namespace

AgentAction AgentMachine::on(AgentEvent event) {
  if (state_ == S::Gone) return A::None;  // late
  const Row* row = find_row(kTable, state_, event);
  if (row == nullptr) return A::Unexpected;
  state_ = row->next;
  return row->action;
}

}  // namespace sml::agent
