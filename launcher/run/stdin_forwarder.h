// Our standard input on its way to the workers that want it: one, or all. Reads nothing before the slowest of them can
// take it, nothing at all when nobody wants it, and never from a terminal that another job has (we run in the
// background). Reads on a thread of its own: others share what is read, and may take what was there, or it lies on a
// file system that stands still.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/strong.h"
#include "common/os/fd.h"
#include "common/os/side_thread.h"

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
  struct Source;
  void pump();
  void came(const std::string& bytes);
  void end();
  void stop();
  std::uint64_t credit() const;  // what the slowest reader can take

  boost::asio::any_io_executor loop_;
  Handlers handlers_;
  std::optional<os::SideThread> reader_;
  std::shared_ptr<const Source> source_;      // what it reads
  os::UniqueFd running_;                      // closed: it is to read no more
  std::map<Rank, std::uint64_t> on_the_way_;  // by reader
  bool started_ = false;
  bool reading_ = false;
  bool over_ = true;
};

}  // namespace sml::run
