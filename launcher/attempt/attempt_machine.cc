#include "launcher/attempt/attempt_machine.h"

#include <algorithm>
#include <utility>

#include "common/core/transition_table.h"

namespace sml::attempt {

namespace {

using S = AttemptState;
using E = AttemptEvent;
using A = AttemptAction;
using Row = Transition<S, E, A>;

constexpr Row kTable[] = {
    {S::Connecting, E::AllReady, S::Probing, A::Probe},
    {S::Connecting, E::OneMachine, S::Stopping, A::StopAll},
    {S::Connecting, E::HostFailed, S::Failing, A::None},
    {S::Connecting, E::UserStop, S::Stopping, A::StopAll},
    {S::Connecting, E::OutputGone, S::Stopping, A::StopAll},
    {S::Connecting, E::LogFailed, S::Stopping, A::StopAll},
    {S::Connecting, E::Deadline, S::Stopping, A::TimeOutStart},
    {S::Connecting, E::TimeUp, S::Stopping, A::TimeOutRest},

    {S::Failing, E::HostFailed, S::Failing, A::None},
    {S::Failing, E::AllSettled, S::Stopping, A::StopAll},
    {S::Failing, E::AllEnded, S::Finished, A::Finish},
    {S::Failing, E::UserStop, S::Stopping, A::StopAll},
    {S::Failing, E::OutputGone, S::Stopping, A::StopAll},
    {S::Failing, E::LogFailed, S::Stopping, A::StopAll},
    {S::Failing, E::Deadline, S::Stopping, A::StopAll},
    {S::Failing, E::TimeUp, S::Stopping, A::TimeOutRest},

    {S::Probing, E::AllProbed, S::Running, A::StartAll},
    {S::Probing, E::HostFailed, S::Stopping, A::StopAll},
    {S::Probing, E::UserStop, S::Stopping, A::StopAll},
    {S::Probing, E::OutputGone, S::Stopping, A::StopAll},
    {S::Probing, E::LogFailed, S::Stopping, A::StopAll},
    {S::Probing, E::Deadline, S::Stopping, A::TimeOutStart},
    {S::Probing, E::TimeUp, S::Stopping, A::TimeOutRest},

    {S::Running, E::WorkerFailed, S::Stopping, A::StopAll},
    {S::Running, E::HostFailed, S::Stopping, A::StopAll},
    {S::Running, E::UserStop, S::Stopping, A::StopAll},
    {S::Running, E::OutputGone, S::Stopping, A::StopAll},
    {S::Running, E::LogFailed, S::Stopping, A::StopAll},
    {S::Running, E::Deadline, S::Stopping, A::TimeOutRun},
    {S::Running, E::AllEnded, S::Finished, A::Finish},
    {S::Running, E::AllCleared, S::Cleared, A::TellCleared},
    {S::Running, E::NoProgress, S::Stopping, A::StopAll},
    {S::Running, E::RanksAlone, S::Stopping, A::StopAll},
    {S::Running, E::Regroup, S::Stopping, A::StopAll},

    {S::Stopping, E::UserStop, S::Stopping, A::GiveTime},  // on() makes it None if there is no more time to give
    {S::Stopping, E::UserInsists, S::Stopping, A::KillAll},
    {S::Stopping, E::AllEnded, S::Finished, A::Finish},
    {S::Stopping, E::AllCleared, S::Cleared, A::TellCleared},
    {S::Stopping, E::Deadline, S::Finished, A::GiveUp},
    {S::Stopping, E::OutputGone, S::Stopping, A::None},  // irrelevant: the workers are being ended already
    {S::Stopping, E::LogFailed, S::Stopping, A::None},
    {S::Stopping, E::HostFailed, S::Stopping, A::None},
    {S::Stopping, E::WorkerFailed, S::Stopping, A::None},

    {S::Cleared, E::NoMore, S::Leaving, A::StopAll},
    {S::Cleared, E::UserStop, S::Leaving, A::StopAll},
    {S::Cleared, E::OutputGone, S::Leaving, A::StopAll},
    {S::Cleared, E::LogFailed, S::Leaving, A::StopAll},
    {S::Cleared, E::HostFailed, S::Cleared, A::None},  // others decide whether another attempt can do without it
    {S::Cleared, E::AllEnded, S::Finished, A::Finish},
    {S::Cleared, E::TimeUp, S::Leaving, A::TimeOutRest},

    {S::Leaving, E::UserStop, S::Leaving, A::None},
    {S::Leaving, E::UserInsists, S::Leaving, A::KillAll},
    {S::Leaving, E::AllEnded, S::Finished, A::Finish},
    {S::Leaving, E::Deadline, S::Finished, A::GiveUp},
    {S::Leaving, E::OutputGone, S::Leaving, A::None},
    {S::Leaving, E::LogFailed, S::Leaving, A::None},
    {S::Leaving, E::HostFailed, S::Leaving, A::None},
    {S::Leaving, E::NoMore, S::Leaving, A::None},  // crossed with another reason to leave

    {S::Finished, E::NoMore, S::Finished, A::None},
    {S::Finished, E::OutputGone, S::Finished, A::None},  // for output that the reader had not taken
    {S::Finished, E::LogFailed, S::Finished, A::None},
    {S::Finished, E::HostFailed, S::Finished, A::None},  // for hosts that were given up
    {S::Finished, E::WorkerFailed, S::Finished, A::None},
    {S::Finished, E::AllEnded, S::Finished, A::None},
};
static_assert(no_pair_twice(kTable));

}  // namespace

AttemptMachine::AttemptMachine(Duration start_timeout, Duration grace, TimePoint now,
                               std::optional<Duration> run_timeout, std::optional<Duration> stop_grace)
    : grace_(grace),
      stop_grace_(stop_grace.value_or(grace)),
      run_timeout_(run_timeout),
      deadline_(now + start_timeout) {}

std::optional<TimePoint> AttemptMachine::deadline_of(AttemptState state, TimePoint now) const {
  switch (state) {
    case S::Connecting:
    case S::Probing: return deadline_;
    case S::Failing: return std::min(*deadline_, now + kGather);
    case S::Running: return time_up_;
    case S::Stopping: return now + grace_ + kConfirm;
    case S::Cleared: return std::nullopt;
    case S::Leaving: return now + kConfirm;
    case S::Finished: return std::nullopt;
  }
  return std::nullopt;
}

// In Running, time_up_ is the only deadline; from Stopping on it no longer counts.
bool AttemptMachine::counts_time() const {
  return time_up_ && (state_ == S::Connecting || state_ == S::Failing || state_ == S::Probing || state_ == S::Cleared);
}

std::optional<TimePoint> AttemptMachine::deadline() const {
  if (!counts_time()) return deadline_;
  return deadline_ ? std::min(*deadline_, *time_up_) : *time_up_;
}

void AttemptMachine::take_longer(Duration more) {
  if (deadline_) *deadline_ += more;
}

AttemptAction AttemptMachine::on(AttemptEvent event, TimePoint now) {
  if (event == E::Deadline && counts_time() && now >= *time_up_) event = E::TimeUp;
  const Row* row = find_row(kTable, state_, event);
  if (row == nullptr) return A::Unexpected;
  if (row->next == S::Running && !time_up_ && run_timeout_) time_up_ = now + *run_timeout_;
  if (event == E::UserStop && state_ != S::Stopping && state_ != S::Leaving) grace_ = stop_grace_;
  if (row->next != state_) deadline_ = deadline_of(row->next, now);
  if (row->action == A::GiveTime) {
    if (stop_grace_ <= grace_) return A::None;
    deadline_ = *deadline_ + (stop_grace_ - std::exchange(grace_, stop_grace_));
  }
  if (row->action == A::KillAll) {
    deadline_ = std::min(*deadline_, now + kConfirm);
    stop_grace_ = std::min(grace_, stop_grace_);  // nothing gives time any more
  }
  state_ = row->next;
  return row->action;
}

}  // namespace sml::attempt
