// The agent's reconnect socket, on this host. After the launcher's connection has broken, the reconnect helper that the
// launcher starts connects here and passes the descriptors of a new pipe.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/fd.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/lifetime.h"

namespace sml::agent {

// The descriptors of a new pipe to the launcher, as the reconnect helper passes them, and its request.
struct Reconnected {
  os::UniqueFd in;
  os::UniqueFd out;
  wire::ReconnectRequest request;  // the launcher's request
};

// One thread. Accepts only a process of the same user that knows the secret (Hello::return_secret).
class ReconnectSocket {
 public:
  // Called from the loop with each new pipe; returns false to refuse it.
  using Taker = std::function<bool(Reconnected)>;

  ReconnectSocket(boost::asio::io_context& loop, std::string secret, Taker taker);

  // The name by which the reconnect helper finds the socket; empty if the socket could not be made.
  const std::string& name() const { return name_; }
  // To be called after the last message has been acknowledged: makes the current reconnect helper, if there is one,
  // exit with status 0.
  void say_goodbye();

 private:
  void accept();
  void let_in(os::UniqueFd caller);
  void read_caller();

  boost::asio::posix::stream_descriptor listener_;
  boost::asio::steady_timer pause_;  // after accept4() has failed, as without a descriptor: it would fail again at once
  boost::asio::posix::stream_descriptor caller_;  // a connection that has sent nothing yet; the next one replaces it
  os::UniqueFd helper_;                           // to the current helper, which runs until this closes
  std::string secret_;
  std::string name_;
  Taker taker_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
