// The helper process that loads libpmix on behalf of the agent (launcher/agent/pmix/helper.c), and the socket to it.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/mpi/pmix_frames.h"

namespace sml::agent {

// The helper is a child of the agent and the leader of its own session. It ignores the signals that ask workers to end,
// exits when the socket closes, and exits by itself when told to.
//
// Call start() first, then ask() while only answers are expected, then listen(). One thread: that of the loop, which
// ask() blocks.
class PmixHelper {
 public:
  explicit PmixHelper(boost::asio::io_context& loop) : socket_(loop) {}
  ~PmixHelper() { end(); }
  PmixHelper(const PmixHelper&) = delete;
  PmixHelper& operator=(const PmixHelper&) = delete;

  // Starts the helper with only this environment. Error: Spawn.
  Result<void> start(std::span<const std::string> environment);
  // Waits for the answer for at most `limit`. Errors (a clause that follows "libpmix's helper"): Timeout, Protocol,
  // Lost.
  Result<pmix::FromHelper> ask(const pmix::ToHelper& question, Duration limit);

  using Hear = std::function<Result<void>(const pmix::FromHelper&)>;
  using Fail = std::function<void(const Error& why)>;
  // Receives messages by the loop from now on. After an error of the socket or of `handle`, calls `fail` once and
  // receives no more.
  void listen(Hear handle, Fail fail);
  void send(const pmix::ToHelper& message);
  void close();  // the helper then exits
  void end();    // kills the helper and waits for its end

  // Called after a child was reaped. Returns true if it was this helper.
  bool ended(pid_t pid);

 private:
  Result<void> read_some(TimePoint end);
  void await();
  void read();
  void write();
  void fail(const Error& why);

  pid_t pid_ = -1;
  os::UniqueFd first_;  // the socket until listen()
  boost::asio::posix::stream_descriptor socket_;
  pmix::Decoder decoder_;
  Hear hear_;
  Fail fail_;
  std::string unsent_;
  bool writing_ = false;
  Lifetime lifetime_;
};

}  // namespace sml::agent
