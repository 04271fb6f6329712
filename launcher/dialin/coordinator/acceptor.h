// Accepts connections one after the other. If accept() fails, for example because this process has no file descriptor
// left, it tries again after 100 ms.
#pragma once
#include <functional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/fd.h"

namespace sml::dialin {

// All calls and callbacks are on the loop's thread.
class Acceptor {
 public:
  // `listener` must already listen. `came` is called for each connection, with a socket as accept_one() (port.h)
  // returns it.
  Acceptor(const boost::asio::any_io_executor& loop, os::UniqueFd listener, std::function<void(os::UniqueFd)> came)
      : listener_(loop, listener.release()), rest_timer_(loop), came_(std::move(came)) {}

  // Accepts connections from now on, until it is destroyed.
  void open();

 private:
  void rest();

  boost::asio::posix::stream_descriptor listener_;
  boost::asio::steady_timer rest_timer_;
  std::function<void(os::UniqueFd)> came_;
};

}  // namespace sml::dialin
