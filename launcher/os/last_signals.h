// Signals that this process handles by its loop. They do not end it by their default action, unless let_go() is called.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

namespace sml::os {

// The destructor makes the process ignore the signals that were added, because the process then only has to exit with
// the status that it has decided on. After let_go() it does not. Used by one thread.
class LastSignals {
 public:
  explicit LastSignals(boost::asio::io_context& loop) : set_(loop) {}
  ~LastSignals();
  LastSignals(const LastSignals&) = delete;
  LastSignals& operator=(const LastSignals&) = delete;

  void add(int signo);
  // Calls `handler` with an error code, the number of the signal and its sender, once, from the loop. The sender is
  // "process PID", or "the kernel", as when a key is pressed at a terminal; empty: unknown.
  void async_wait(auto handler) {
    set_.async_wait([handler = std::move(handler)](boost::system::error_code error, int signo) mutable {
      handler(error, signo, error ? std::string() : take_sender(signo));
    });
  }
  void cancel() { set_.cancel(); }
  // Gives the signals that were added their default action again, which ends the process: for one that may still have
  // to wait without end, such as for a terminal that takes no output.
  void let_go();

 private:
  // The sender of the first signal with that number that has come and whose sender has not been taken.
  static std::string take_sender(int signo);

  boost::asio::signal_set set_;
  std::vector<int> added_;
};

}  // namespace sml::os
