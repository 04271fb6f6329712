// The process that asks NVIDIA's management library for the utilization of its devices (launcher/agent/nvml/helper.c).
// The agent's executable contains the helper.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/usage.h"
#include "launcher/agent/core/lifetime.h"

namespace sml::agent {

// True if this host has NVIDIA's driver.
bool has_nvidia_driver();

// The helper is a child of the agent and the leader of its own session; it exits when the socket closes. A library that
// hangs blocks only the helper; if an answer takes longer than 10 seconds, the next question empties devices(). One
// thread: that of the loop.
class GpuHelper {
 public:
  explicit GpuHelper(boost::asio::io_context& loop) : socket_(loop) {}
  ~GpuHelper() { end(); }
  GpuHelper(const GpuHelper&) = delete;
  GpuHelper& operator=(const GpuHelper&) = delete;

  // Starts the helper; call once. Returns, the first time in this process, warnings that name the libraries and folders
  // that it does not use, as other users may have changed them. Error (Spawn): the helper cannot run, now or later.
  Result<std::vector<std::string>> start();
  // Sends a question. Calls `done` once, from the loop, when the answer has come or the helper has failed; not after
  // end(). Returns false, and never calls `done`, if the helper does not run, has not answered the last question, or
  // would cost too much processor time (os::gpu_interval()).
  bool ask(std::function<void()> done);
  // Like ask(), whatever the cost.
  bool ask_at_once(std::function<void()> done);
  // The devices of the last answer; empty if there is none, or the helper has failed.
  const std::vector<AcceleratorUse>& devices() const { return devices_; }
  void end();  // kills it by SIGKILL; does not reap it

  bool is(pid_t pid) const { return pid_ > 0 && pid == pid_; }
  // Call after a child of this process has been reaped. Returns true if it was this helper.
  bool ended(pid_t pid);

 private:
  void await();
  void read();
  bool take(std::string_view line);
  void answer();
  void close();

  boost::asio::posix::stream_descriptor socket_;
  pid_t pid_ = -1;
  std::function<void()> done_;  // empty: no question is pending
  TimePoint asked_at_;
  TimePoint next_;    // the earliest time of the next question by ask()
  std::string text_;  // the part of an answer that has been received
  std::vector<AcceleratorUse> devices_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
