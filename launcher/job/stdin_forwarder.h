// Our standard input on its way to one worker. Reads nothing before the worker can take it, and never from a terminal
// that belongs to somebody else (we run in the background).
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/fd.h"

namespace sml::job {

class StdinForwarder {
 public:
  static constexpr std::uint64_t kWindow = std::uint64_t{64} << 10;

  struct Handlers {
    std::function<void(std::string)> data;
    std::function<void()> end;  // once
  };
  StdinForwarder(boost::asio::any_io_executor loop, Handlers handlers);
  ~StdinForwarder();

  void start();                     // with a whole window
  void grant(std::uint64_t bytes);  // the worker has taken so many
  void stop();                      // nobody wants more

 private:
  void pump();
  void read_some();
  void end();

  Handlers handlers_;
  os::UniqueFd plain_;  // regular files and what cannot be waited for
  boost::asio::posix::stream_descriptor waitable_;
  boost::asio::steady_timer retry_;
  std::uint64_t credit_ = 0;
  bool waiting_ = false;
  bool over_ = true;
};

}  // namespace sml::job
