// Signals that a process hears of until it ends.
#pragma once
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

namespace sml::os {

// None of those that were added ends this process any more, not even when this has gone: what is left then is to end
// with the status that has been decided.
class LastSignals {
 public:
  explicit LastSignals(boost::asio::io_context& loop) : set_(loop) {}
  ~LastSignals();
  LastSignals(const LastSignals&) = delete;
  LastSignals& operator=(const LastSignals&) = delete;

  void add(int signo);
  void async_wait(auto heard) { set_.async_wait(std::move(heard)); }
  void cancel() { set_.cancel(); }

 private:
  boost::asio::signal_set set_;
  std::vector<int> added_;
};

}  // namespace sml::os
