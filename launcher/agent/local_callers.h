// Whether TCP connections that begin on this machine are the job's.
#pragma once
#include <functional>
#include <vector>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/os/socket_owner.h"
#include "common/wire/messages.h"

namespace sml::agent {

// They are when the agent's user has made them, or root, or a user whom some process below the agent runs as: workers
// may have become somebody else. One thread.
class LocalCallers {
 public:
  using Answer = std::function<void(wire::IsOurs)>;
  static constexpr Duration kLookEvery = std::chrono::milliseconds(100);  // at the processes, at most

  explicit LocalCallers(boost::asio::io_context& loop) : timer_(loop) {}
  LocalCallers(const LocalCallers&) = delete;
  LocalCallers& operator=(const LocalCallers&) = delete;

  // `ends` as the caller sees them. Answers before it returns, unless it is another user's: then after the next look.
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
