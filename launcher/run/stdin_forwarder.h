// Forwards the launcher's standard input to the workers that read it: one, or all. Reads no more than the slowest of
// them can accept; nothing if no worker reads; and never from a terminal while the launcher is in the background. Reads
// on a thread of its own, since a read may block: another process that shares the input may take available bytes first,
// or a file system may hang. All calls are on the loop's thread.
#pragma once
#include <cstdint>
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
  static constexpr std::uint64_t kWindow = std::uint64_t{64} << 10;  // most bytes in transit to one worker

  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void send_input(Rank rank, const std::string& bytes) = 0;  // sends them to the worker
    virtual void end_input(Rank rank) = 0;  // the input has ended; called once for each reader that is left then
  };
  StdinForwarder(boost::asio::any_io_executor loop, Sink& sink);  // `sink` outlives this
  ~StdinForwarder();

  void add_reader(Rank rank);                  // only before start()
  void start();                                // to be called when the workers run
  void taken(Rank rank, std::uint64_t bytes);  // the worker has consumed `bytes`, so more may be sent
  void remove_reader(Rank rank);               // the worker has ended; without readers, reading stops

 private:
  struct Source;
  void pump();
  void came(const std::string& bytes);
  void end();
  void stop();
  std::uint64_t credit() const;  // the number of bytes that the slowest reader can accept

  boost::asio::any_io_executor loop_;
  Sink& sink_;
  std::optional<os::SideThread> reader_;
  std::shared_ptr<const Source> source_;      // used by the thread
  os::UniqueFd running_;                      // closing it stops the thread's reading
  std::map<Rank, std::uint64_t> on_the_way_;  // bytes in transit, by reader
  bool started_ = false;
  bool reading_ = false;  // the thread reads now
  bool over_ = true;      // before start(), and when reading has stopped for good
};

}  // namespace sml::run
