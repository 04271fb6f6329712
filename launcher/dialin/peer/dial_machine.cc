#include "launcher/dialin/peer/dial_machine.h"

#include <algorithm>

#include "common/core/transition_table.h"

namespace sml::dialin {

namespace {

using S = DialState;
using E = DialEvent;
using A = DialAction;
using Row = Transition<S, E, A>;

constexpr Row kTable[] = {
    {S::Calling, E::Failed, S::Resting, A::Rest},          {S::Calling, E::Refused, S::Over, A::GiveUp},
    {S::Calling, E::Welcomed, S::Serving, A::None},        {S::Calling, E::Deadline, S::Over, A::GiveUp},

    {S::Calling, E::Proved, S::Waiting, A::None},

    {S::Resting, E::Deadline, S::Calling, A::Call},

    {S::Waiting, E::Failed, S::Resting, A::Rest},          {S::Waiting, E::Refused, S::Over, A::GiveUp},
    {S::Waiting, E::Welcomed, S::Serving, A::None},        {S::Waiting, E::Deadline, S::Over, A::GiveUp},

    {S::Serving, E::VerdictCame, S::Leaving, A::EndAgent}, {S::Serving, E::HeadLost, S::Deserted, A::EndAgent},
    {S::Serving, E::AgentEnded, S::Serving, A::None},  // the coordinator decides what follows

    {S::Leaving, E::AgentEnded, S::Over, A::Leave},        {S::Leaving, E::Deadline, S::Over, A::Leave},
    {S::Leaving, E::HeadLost, S::Leaving, A::None},

    {S::Deserted, E::HeadLost, S::Deserted, A::None},      {S::Deserted, E::AgentEnded, S::Over, A::Leave},
    {S::Deserted, E::Deadline, S::Over, A::Leave},
};
static_assert(no_pair_twice(kTable));

}  // namespace

bool may_change(const Refused& refused, std::uint32_t own_attempt) {
  if (refused.reason == Reason::Attempt) return refused.attempt < own_attempt;
  return refused.reason == Reason::Address;
}

DialMachine::DialMachine(Duration timeout, Duration grace, TimePoint now)
    : grace_(grace), give_up_at_(now + timeout), deadline_(give_up_at_) {}

DialAction DialMachine::on(DialEvent event, TimePoint now) {
  if (state_ == S::Over) return A::None;  // late
  const Row* row = find_row(kTable, state_, event);
  if (row == nullptr) return A::Unexpected;
  if (state_ == row->next) return row->action;
  state_ = row->next;
  if (state_ == S::Resting) return rest(now);
  if (state_ == S::Calling) deadline_ = give_up_at_;
  if (state_ == S::Waiting) deadline_ = give_up_at_ + kLinger;
  if (state_ == S::Serving || state_ == S::Over) deadline_.reset();
  if (state_ == S::Leaving) deadline_ = now + kConfirm;
  if (state_ == S::Deserted) deadline_ = now + grace_ + kConfirm;
  return row->action;
}

void DialMachine::hurry(TimePoint until, TimePoint now) {
  give_up_at_ = std::min(give_up_at_, until);
  rest_ = kFirstRest;
  if (deadline_) deadline_ = std::min(*deadline_, state_ == S::Resting ? now : give_up_at_);
}

// Each rest is longer than the last; none goes beyond the end of the timeout.
DialAction DialMachine::rest(TimePoint now) {
  if (now >= give_up_at_) {
    state_ = S::Over;
    deadline_.reset();
    return A::GiveUp;
  }
  deadline_ = std::min(now + rest_, give_up_at_);
  rest_ = std::min(2 * rest_, kLongestRest);
  return A::Rest;
}

}  // namespace sml::dialin
