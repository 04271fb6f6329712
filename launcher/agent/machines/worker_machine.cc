#include "launcher/agent/machines/worker_machine.h"

#include <algorithm>

#include "common/core/transition_table.h"

namespace sml::agent {

namespace {

using S = WorkerState;
using E = WorkerEvent;
using A = WorkerAction;
using Row = Transition<S, E, A>;

constexpr Row kTable[] = {
    {S::Planned, E::Spawned, S::Running, A::None},
    {S::Planned, E::SpawnFailed, S::Done, A::ReportExitAndDrained},
    {S::Planned, E::StopAsked, S::Done, A::None},

    {S::Running, E::StopAsked, S::Stopping, A::None},
    {S::Running, E::Reaped, S::Draining, A::ReportExit},
    {S::Running, E::OutputEnded, S::RunningSilent, A::None},

    {S::RunningSilent, E::StopAsked, S::StoppingSilent, A::None},
    {S::RunningSilent, E::Reaped, S::Done, A::ReportExitAndDrained},

    {S::Stopping, E::StopAsked, S::Stopping, A::None},
    {S::Stopping, E::Reaped, S::Draining, A::ReportExit},
    {S::Stopping, E::OutputEnded, S::StoppingSilent, A::None},

    {S::StoppingSilent, E::StopAsked, S::StoppingSilent, A::None},
    {S::StoppingSilent, E::Reaped, S::Done, A::ReportExitAndDrained},

    {S::Draining, E::StopAsked, S::Draining, A::None},
    {S::Draining, E::OutputEnded, S::Done, A::ReportDrained},
    {S::Draining, E::DrainOver, S::Done, A::AbandonOutput},

    {S::Done, E::StopAsked, S::Done, A::None},
    {S::Done, E::OutputEnded, S::Done, A::None},  // from pipes that the agent has abandoned
    {S::Done, E::DrainOver, S::Done, A::None},
};
static_assert(no_pair_twice(kTable));

}  // namespace

WorkerAction WorkerMachine::on(WorkerEvent event) {
  const Row* row = find_row(kTable, state_, event);
  if (row == nullptr) return A::Unexpected;
  if (event == E::StopAsked && alive()) asked_to_stop_ = true;
  state_ = row->next;
  return row->action;
}

bool WorkerMachine::alive() const {
  return state_ == S::Running || state_ == S::RunningSilent || state_ == S::Stopping || state_ == S::StoppingSilent;
}

void DrainClock::begin(TimePoint now) {
  quiet_from_ = now;
  cap_from_ = now;
  if (paused_at_) paused_at_ = now;
}

void DrainClock::own_read(TimePoint now) {
  if (own_read_) return;
  own_read_ = true;
  if (paused_at_) cap_from_ += now - *paused_at_;
}

void DrainClock::on_output(TimePoint now) {
  if (quiet_from_) quiet_from_ = now;
}

void DrainClock::pause(TimePoint now) {
  if (!paused_at_) paused_at_ = now;
}

void DrainClock::resume(TimePoint now) {
  if (!paused_at_) return;
  const Duration lost = now - *paused_at_;
  paused_at_.reset();
  if (!quiet_from_) return;
  *quiet_from_ += lost;
  if (!own_read_) cap_from_ += lost;
}

std::optional<TimePoint> DrainClock::deadline() const {
  if (!quiet_from_) return std::nullopt;
  const TimePoint cap = cap_from_ + kCap;
  if (paused_at_) return own_read_ ? std::optional(cap) : std::nullopt;
  return std::min(*quiet_from_ + kQuiet, cap);
}

}  // namespace sml::agent
