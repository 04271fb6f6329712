// Our standard input on its way to the workers that want it: one, or all. Reads nothing before the slowest of them can
// take it, nothing at all when nobody wants it, and never from a terminal that belongs to somebody else (we run in the
// background).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/strong.h"
#include "common/os/fd.h"

namespace sml::run {

class StdinForwarder {
 public:
  static constexpr std::uint64_t kWindow = std::uint64_t{64} << 10;  // bytes on the way to one worker at most

  struct Handlers {
    std::function<void(Rank, const std::string&)> data;
    std::function<void(Rank)> end;  // once for each reader
  };
  StdinForwarder(boost::asio::any_io_executor loop, Handlers handlers);
  ~StdinForwarder();

  void add_reader(Rank rank);                  // before start()
  void start();                                // workers run
  void taken(Rank rank, std::uint64_t bytes);  // by the worker
  void remove_reader(Rank rank);               // it has ended; without readers nothing is read any more

 private:
  void pump();
  void read_some();
  void end();
  void stop();
  std::uint64_t credit() const;  // what the slowest reader can take

  Handlers handlers_;
  os::UniqueFd source_;                             // what is read
  boost::asio::posix::stream_descriptor waitable_;  // what is waited for; closed: nothing, as for a regular file
  boost::asio::steady_timer retry_;
  std::map<Rank, std::uint64_t> on_the_way_;  // by reader
  bool started_ = false;
  bool waiting_ = false;
  bool over_ = true;
};

}  // namespace sml::run
