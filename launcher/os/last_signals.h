// Signals that this process handles by its loop, and that never end it by their default action.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

namespace sml::os {

// A signal that was added does not end this process any more, not even after this object is destroyed: the destructor
// makes the process ignore it, as the process then only has to exit with the status that it has decided on. Except
// after let_go().
class LastSignals {
 public:
  explicit LastSignals(boost::asio::io_context& loop) : set_(loop) {}
  ~LastSignals();
  LastSignals(const LastSignals&) = delete;
  LastSignals& operator=(const LastSignals&) = delete;

  void add(int signo);
  // Calls `handler` with an error code, the number of the signal and its sender, once, from the loop. The sender is a
  // process, or the kernel, as when a key is pressed at a terminal.
  void async_wait(auto handler) {
    set_.async_wait([handler = std::move(handler)](boost::system::error_code error, int signo) mutable {
      handler(error, signo, error ? std::string() : take_sender(signo));
    });
  }
  void cancel() { set_.cancel(); }
  // From now on they end this process as by default: for a process that may still have to wait without end.
  void let_go();

 private:
  // The sender of the first signal with that number that has come and whose sender has not been taken.
  static std::string take_sender(int signo);

  boost::asio::signal_set set_;
  std::vector<int> added_;
};

}  // namespace sml::os
