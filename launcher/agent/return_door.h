// Where a launcher whose connection has broken comes back: a socket of this machine, at which its messenger hands over
// the ends of another pipe.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/os/fd.h"
#include "common/wire/messages.h"
#include "launcher/agent/lifetime.h"

namespace sml::agent {

// The ends of a pipe to the launcher, as its messenger has them, and what it wants.
struct Returned {
  os::UniqueFd in;
  os::UniqueFd out;
  wire::Return wish;
};

// One thread. Only a process of the same user that knows the secret is heard.
class ReturnDoor {
 public:
  // False: the pipe is not taken.
  using Taker = std::function<bool(Returned)>;

  ReturnDoor(boost::asio::io_context& loop, std::string secret, Taker taker);

  // By which the socket is found; empty: none could be made.
  const std::string& name() const { return name_; }
  // The last word has been heard: the messenger, if there is one, ends well too.
  void say_goodbye();

 private:
  void accept();
  void let_in(os::UniqueFd caller);
  void hear_caller();

  boost::asio::posix::stream_descriptor door_;
  boost::asio::posix::stream_descriptor caller_;  // has not spoken; who comes next takes its place
  os::UniqueFd messenger_;                        // lives for as long as we hold this
  std::string secret_;
  std::string name_;
  Taker taker_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
