#include "launcher/agent/machines/host_machine.h"

#include <algorithm>
#include <utility>

#include "common/core/transition_table.h"

namespace sml::agent {

namespace {

using S = HostState;
using E = HostEvent;
using A = HostAction;
using Row = Transition<S, E, A>;

constexpr Row kTable[] = {
    {S::Idle, E::Start, S::Running, A::SpawnAll},
    {S::Idle, E::Stop, S::Gone, A::EndAttempt},
    {S::Idle, E::LauncherLost, S::Gone, A::EndAttempt},
    {S::Idle, E::AllReaped, S::Idle, A::None},
    {S::Idle, E::AllDone, S::Idle, A::None},

    {S::Running, E::Stop, S::Stopping, A::SignalAll},
    {S::Running, E::LauncherLost, S::Stopping, A::SignalAllDropOutput},
    {S::Running, E::AllReaped, S::Draining, A::None},
    {S::Running, E::AllDone, S::Running, A::None},

    {S::Stopping, E::Stop, S::Stopping, A::None},
    {S::Stopping, E::LauncherLost, S::Stopping, A::DropOutput},
    {S::Stopping, E::AllReaped, S::Draining, A::None},
    {S::Stopping, E::AllDone, S::Stopping, A::None},
    {S::Stopping, E::Deadline, S::Killing, A::KillAll},

    {S::Killing, E::Stop, S::Killing, A::None},
    {S::Killing, E::LauncherLost, S::Killing, A::DropOutput},
    {S::Killing, E::AllReaped, S::Draining, A::None},
    {S::Killing, E::AllDone, S::Killing, A::None},
    {S::Killing, E::Deadline, S::Gone, A::EndAttempt},

    {S::Draining, E::Stop, S::Stopping, A::SignalAll},  // the processes that still hold the output
    {S::Draining, E::LauncherLost, S::Draining, A::DropOutput},
    {S::Draining, E::AllReaped, S::Draining, A::None},
    {S::Draining, E::AllDone, S::Sweeping, A::SignalLeft},
    {S::Draining, E::Deadline, S::DrainKilling, A::KillAll},

    {S::DrainKilling, E::Stop, S::DrainKilling, A::None},
    {S::DrainKilling, E::LauncherLost, S::DrainKilling, A::DropOutput},
    {S::DrainKilling, E::AllReaped, S::DrainKilling, A::None},
    {S::DrainKilling, E::AllDone, S::Sweeping, A::SignalLeft},

    {S::Sweeping, E::Stop, S::Sweeping, A::None},
    {S::Sweeping, E::LauncherLost, S::Sweeping, A::None},
    {S::Sweeping, E::AllReaped, S::Sweeping, A::None},
    {S::Sweeping, E::AllDone, S::Sweeping, A::None},
    {S::Sweeping, E::NothingLeft, S::Gone, A::EndAttempt},
    {S::Sweeping, E::Deadline, S::SweepKilling, A::KillAll},

    {S::SweepKilling, E::Stop, S::SweepKilling, A::None},
    {S::SweepKilling, E::LauncherLost, S::SweepKilling, A::None},
    {S::SweepKilling, E::AllReaped, S::SweepKilling, A::None},
    {S::SweepKilling, E::AllDone, S::SweepKilling, A::None},
    {S::SweepKilling, E::NothingLeft, S::Gone, A::EndAttempt},
    {S::SweepKilling, E::Deadline, S::Gone, A::EndAttempt},
};
static_assert(no_pair_twice(kTable));

}  // namespace

HostAction HostMachine::stop(int signo, Duration grace, TimePoint now) {
  if (state_ == S::Running || (state_ == S::Draining && !deadline_)) {
    stop_signal_ = signo;
    grace_ = grace;
  }
  const HostAction action = on(E::Stop, now);
  take_grace(grace, now);
  return action;
}

// Processes that ended workers have left behind get no longer grace.
void HostMachine::take_grace(Duration grace, TimePoint now) {
  const bool promised = deadline_ && !std::exchange(by_itself_, false);
  if (state_ != S::Stopping && (state_ != S::Sweeping || !deadline_)) return;
  if (!promised) {
    grace_ = grace;
    deadline_ = now + grace;
  } else if (state_ == S::Stopping && grace > grace_) {
    deadline_ = *deadline_ + (grace - std::exchange(grace_, grace));
  } else {
    deadline_ = std::min(*deadline_, now + grace);
  }
}

HostAction HostMachine::stop_by_itself(TimePoint now) {
  const HostState before = state_;
  const HostAction action = on(E::Stop, now);
  by_itself_ = by_itself_ || (state_ == S::Stopping && before != S::Stopping);
  return action;
}

HostAction HostMachine::on(HostEvent event, TimePoint now) {
  if (state_ == S::Gone) return A::None;  // late
  const Row* row = find_row(kTable, state_, event);
  if (row == nullptr) return A::Unexpected;
  if (row->next != state_) deadline_ = deadline_of(row->next, now);
  state_ = row->next;
  return row->action;
}

std::optional<TimePoint> HostMachine::deadline_of(HostState state, TimePoint now) const {
  switch (state) {
    case S::Stopping: return std::min(deadline_.value_or(now + grace_), now + grace_);  // never extended
    case S::Sweeping: return now + std::min(grace_, kSweepGrace);
    case S::Draining: return deadline_;  // the grace also applies to processes that hold the output
    case S::Killing:
    case S::SweepKilling: return now + kReapLimit;
    default: return std::nullopt;
  }
}

}  // namespace sml::agent
