// The agent's reconnect socket, on this host. After the launcher's connection has broken, its reconnect helper connects
// here and passes the descriptors of a new pipe.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/os/fd.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/lifetime.h"

namespace sml::agent {

// The descriptors of a new pipe to the launcher, as the reconnect helper passes them, and its request.
struct Reconnected {
  os::UniqueFd in;
  os::UniqueFd out;
  wire::Return wish;
};

// One thread. Accepts only a process of the same user that knows the secret.
class ReconnectSocket {
 public:
  // Returns false to refuse the pipe.
  using Taker = std::function<bool(Reconnected)>;

  ReconnectSocket(boost::asio::io_context& loop, std::string secret, Taker taker);

  // The name by which the socket is found; empty if it could not be made.
  const std::string& name() const { return name_; }
  // To be called after the last message has been acknowledged: tells the current reconnect helper, if there is one, to
  // exit with status 0.
  void say_goodbye();

 private:
  void accept();
  void let_in(os::UniqueFd caller);
  void hear_caller();

  boost::asio::posix::stream_descriptor listener_;
  boost::asio::posix::stream_descriptor caller_;  // has sent nothing yet; the next connection replaces it
  os::UniqueFd helper_;                           // the helper runs until this closes
  std::string secret_;
  std::string name_;
  Taker taker_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
