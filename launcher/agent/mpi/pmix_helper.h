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

// The helper is a child of the agent and the leader of its own session. From its first reply on, it ignores every
// signal that may ask workers to end. It exits when the socket closes or when it receives a pmix::Leave.
//
// Call start() first; then ask(), as often as needed, while the helper sends nothing but replies; then listen(), after
// which replies and upcalls come to its handler, and send() replaces ask(). One thread: that of the loop, which ask()
// blocks.
class PmixHelper {
 public:
  explicit PmixHelper(boost::asio::io_context& loop) : socket_(loop) {}
  ~PmixHelper() { end(); }
  PmixHelper(const PmixHelper&) = delete;
  PmixHelper& operator=(const PmixHelper&) = delete;

  // Starts the helper with only this environment. Error: Spawn.
  Result<void> start(std::span<const std::string> environment);
  // Sends the request and waits for the reply, for at most `limit`. Errors, as a part of a sentence that follows
  // "libpmix's helper": Timeout, Protocol, Lost.
  Result<pmix::FromHelper> ask(const pmix::ToHelper& question, Duration limit);

  // An error that the handler returns ends the connection, as one of the socket does.
  using Hear = std::function<Result<void>(const pmix::FromHelper&)>;
  using Fail = std::function<void(const Error& why)>;
  // From now on, the loop passes each message to `handle`. After the end or an error of the socket, or an error of
  // `handle`, closes the socket and calls `fail` once, with a part of a sentence as for ask().
  void listen(Hear handle, Fail fail);
  void send(const pmix::ToHelper& message);  // never blocks; does nothing before listen() and after close()
  void close();  // closes the socket, at which the helper exits by itself; does not wait for that
  void end();    // kills the helper and waits for its end

  // To be called when a child of the agent has been reaped. Returns true if that child was this helper.
  bool ended(pid_t pid);

 private:
  Result<void> read_some(TimePoint end);
  void await();
  void read();
  void write();
  void fail(const Error& why);

  pid_t pid_ = -1;      // -1: not started, or reaped
  os::UniqueFd first_;  // the socket until listen()
  boost::asio::posix::stream_descriptor socket_;
  pmix::Decoder decoder_;
  Hear hear_;
  Fail fail_;
  std::string unsent_;
  bool writing_ = false;  // waits for room in the socket
  Lifetime lifetime_;
};

}  // namespace sml::agent
