// Decides whether TCP connections that begin on this host belong to the job: asks the kernel for the user of each, and
// looks for the users of the agent's descendants in /proc.
#pragma once
#include <functional>
#include <vector>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/wire/messages.h"
#include "launcher/agent/os/socket_owner.h"

namespace sml::agent {

// A connection belongs to the job if it was made by the agent's user, by root, or by a user as whom some process below
// the agent runs: workers may have changed their user. One thread: that of the loop.
class LocalConnectionCheck {
 public:
  using Answer = std::function<void(wire::PeerOwnership)>;
  // The shortest interval between two scans of the host's processes.
  static constexpr Duration kLookEvery = std::chrono::milliseconds(100);

  explicit LocalConnectionCheck(boost::asio::io_context& loop) : timer_(loop) {}
  LocalConnectionCheck(const LocalConnectionCheck&) = delete;
  LocalConnectionCheck& operator=(const LocalConnectionCheck&) = delete;

  // `ends` are the addresses of the connection as the caller's socket has them. Calls `answer` before it returns,
  // unless the connection belongs to another user or is closed: then from the loop, after the next scan of the
  // processes. A question cannot be taken back, so `answer` must be safe to call until this object is destroyed. The
  // answer is Unknown if the kernel does not list the socket (on loopback: then it counts as closed) or does not report
  // its user.
  void ask(const os::TcpEnds& ends, Answer answer);

 private:
  struct Waiting {
    uid_t user;
    Answer answer;
  };
  void look();

  os::SocketOwners owners_;
  const uid_t user_ = ::geteuid();
  boost::asio::steady_timer timer_;
  TimePoint next_look_;
  std::vector<Waiting> waiting_;
};

}  // namespace sml::agent
