// The process that lends us libpmix (launcher/pmix/helper.c), and the socket to it.
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
#include "common/rendezvous/pmix_frames.h"
#include "launcher/agent/lifetime.h"

namespace sml::agent {

// A child of the agent, leader of a session of its own. It ignores the signals that ask workers to end, dies with the
// socket, and leaves by itself when told to.
//
// First start(), then ask() as long as nothing else is to be heard, then listen(). One thread: that of the loop, which
// ask() holds up.
class PmixHelper {
 public:
  explicit PmixHelper(boost::asio::io_context& loop) : socket_(loop) {}
  ~PmixHelper() { end(); }
  PmixHelper(const PmixHelper&) = delete;
  PmixHelper& operator=(const PmixHelper&) = delete;

  // With this environment and no other. Error: Spawn.
  Result<void> start(std::span<const std::string> environment);
  // Waits for the answer, at most `limit`. Errors (a clause that follows "libpmix's helper"): Timeout, Protocol, Lost.
  Result<rendezvous::pmix::FromHelper> ask(const rendezvous::pmix::ToHelper& question, Duration limit);

  using Hear = std::function<Result<void>(const rendezvous::pmix::FromHelper&)>;
  using Fail = std::function<void(const Error& why)>;
  // From now on. After an error, its own or one that `hear` answers, it is told once, and nothing more is heard.
  void listen(Hear hear, Fail fail);
  void send(const rendezvous::pmix::ToHelper& message);
  void close();  // the helper leaves
  void end();    // at once, and waits for that

  // True: this was it, and somebody has waited for it.
  bool ended(pid_t pid);

 private:
  Result<void> read_some(TimePoint end);
  void await();
  void read();
  void write();
  void fail(const Error& why);

  pid_t pid_ = -1;
  os::UniqueFd first_;  // the socket, until the loop has it
  boost::asio::posix::stream_descriptor socket_;
  rendezvous::pmix::Decoder decoder_;
  Hear hear_;
  Fail fail_;
  std::string unsent_;
  bool writing_ = false;
  Lifetime lifetime_;
};

}  // namespace sml::agent
