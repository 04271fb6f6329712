#include "launcher/agent/core/local_connection_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/os/descendants.h"
#include "launcher/agent/core/waits.h"

namespace sml::agent {

namespace {

constexpr uid_t kNobody = static_cast<uid_t>(-1);  // not a valid user id

}  // namespace

void LocalConnectionCheck::ask(const os::TcpEnds& ends, Answer answer) {
  using State = os::SocketOwner::State;
  const os::SocketOwner owner = owners_.owner_of(ends);
  // A loopback connection has nothing between its ends: one that the kernel does not list is closed.
  const bool gone = owner.state == State::Absent && ends.local.address().is_loopback();
  const bool nobodys = gone || owner.state == State::Closed;
  if (!nobodys && owner.state != State::Held) return answer(wire::PeerOwnership::Unknown);
  if (!nobodys && (owner.uid == user_ || owner.uid == 0)) return answer(wire::PeerOwnership::Yes);
  // A closed connection is refused later, too: by then this end has noticed that the other is gone.
  waiting_.push_back({nobodys ? kNobody : owner.uid, std::move(answer)});
  if (waiting_.size() > 1) return;
  timer_.expires_at(std::max(next_look_, Clock::now()));
  when_due(timer_, [this] { look(); });
}

void LocalConnectionCheck::look() {
  const std::set<uid_t> users = os::users_of_descendants();
  next_look_ = Clock::now() + kLookEvery;
  for (const Waiting& one : std::exchange(waiting_, {})) {
    one.answer(users.contains(one.user) ? wire::PeerOwnership::Yes : wire::PeerOwnership::No);
  }
}

}  // namespace sml::agent
