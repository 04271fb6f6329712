// Accepts the connections to a listening socket one after the other. If accept4() fails, for example because this
// process has no file descriptor left, tries again after 100 ms: to wait for the listener would end at once.
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "common/os/fd.h"

namespace sml::os {

// All calls and callbacks are on the loop's thread.
class Acceptor {
 public:
  // `listener` must already listen, without blocking. `came` is called for each connection, with a socket that does not
  // block; it may destroy the Acceptor.
  Acceptor(const boost::asio::any_io_executor& loop, UniqueFd listener, std::function<void(UniqueFd)> came);
  ~Acceptor();  // closes the listener; `came` is not called any more
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Accepts connections from now on. Call once.
  void open();

 private:
  struct State;
  static void await(const std::shared_ptr<State>& state);
  static void rest(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace sml::os
