#include "launcher/transport/session/session_machine.h"

#include "common/core/transition_table.h"

namespace sml::transport {

namespace {

using S = SessionState;
using E = SessionEvent;
using A = SessionAction;
using Row = Transition<S, E, A>;

constexpr Row kTable[] = {
    {S::Starting, E::Opened, S::Greeting, A::None},
    {S::Starting, E::Closed, S::Ended, A::TellLost},

    {S::Greeting, E::NeedAgent, S::Greeting, A::SendAgent},  // again, if a folder could not store it
    {S::Greeting, E::AgentRuns, S::Preparing, A::Introduce},
    {S::Greeting, E::Broken, S::Starting, A::StartAgain},
    {S::Greeting, E::Closed, S::Ended, A::TellLost},

    {S::Preparing, E::Hello, S::Preparing, A::Deliver},
    {S::Preparing, E::Prepared, S::Ready, A::TellReady},
    {S::Preparing, E::AnyTime, S::Preparing, A::Deliver},
    {S::Preparing, E::Probed, S::Preparing, A::None},  // late, of an earlier attempt
    {S::Preparing, E::InputTaken, S::Preparing, A::None},
    {S::Preparing, E::Added, S::Preparing, A::None},  // late, of an earlier attempt
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
    {S::Running, E::Added, S::Running, A::Deliver},
    {S::Running, E::Cleared, S::Cleared, A::Deliver},
    {S::Running, E::Probed, S::Running, A::None},  // late
    {S::Running, E::AnyTime, S::Running, A::Deliver},
    {S::Running, E::Bye, S::Leaving, A::Deliver},
    {S::Running, E::Closed, S::Ended, A::TellLost},

    {S::Cleared, E::PrepareSent, S::Preparing, A::None},
    {S::Cleared, E::InputTaken, S::Cleared, A::Deliver},
    {S::Cleared, E::Added, S::Cleared, A::Deliver},
    {S::Cleared, E::Probed, S::Cleared, A::None},  // late
    {S::Cleared, E::AnyTime, S::Cleared, A::Deliver},
    {S::Cleared, E::Bye, S::Leaving, A::Deliver},
    {S::Cleared, E::Closed, S::Ended, A::TellLost},

    {S::Leaving, E::Closed, S::Ended, A::TellEnd},
    {S::Leaving, E::AnyTime, S::Leaving, A::None},
    {S::Leaving, E::Probed, S::Leaving, A::None},  // late
};
static_assert(no_pair_twice(kTable));

}  // namespace

SessionAction SessionMachine::on(SessionEvent event) {
  if (state_ == S::Ended) return A::None;
  const Row* row = find_row(kTable, state_, event);
  if (row == nullptr) return A::Refuse;
  state_ = row->next;
  return row->action;
}

}  // namespace sml::transport
