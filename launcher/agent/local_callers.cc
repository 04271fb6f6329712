#include "launcher/agent/local_callers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/os/descendants.h"
#include "launcher/agent/waits.h"

namespace sml::agent {

void LocalCallers::ask(const os::TcpEnds& ends, Answer answer) {
  using State = os::SocketOwner::State;
  const os::SocketOwner owner = owners_.owner_of(ends);
  // Nothing stands between the ends of a loopback connection: what is not there has gone.
  const bool gone = owner.state == State::Absent && ends.local.address().is_loopback();
  if (gone || owner.state == State::Closed) return answer(wire::IsOurs::No);
  if (owner.state != State::Held) return answer(wire::IsOurs::Unknown);
  if (owner.uid == user_ || owner.uid == 0) return answer(wire::IsOurs::Yes);
  waiting_.push_back({owner.uid, std::move(answer)});
  if (waiting_.size() > 1) return;
  timer_.expires_at(std::max(next_look_, Clock::now()));
  when_due(timer_, [this] { look(); });
}

void LocalCallers::look() {
  const std::set<uid_t> users = os::users_of_descendants();
  next_look_ = Clock::now() + kLookEvery;
  for (const Waiting& one : std::exchange(waiting_, {})) {
    one.answer(users.contains(one.user) ? wire::IsOurs::Yes : wire::IsOurs::No);
  }
}

}  // namespace sml::agent
