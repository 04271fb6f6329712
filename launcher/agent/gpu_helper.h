// The process that asks NVIDIA's management library how busy its devices are (launcher/nvml/helper.c), which we carry.
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
#include "launcher/agent/lifetime.h"

namespace sml::agent {

// Where NVIDIA's driver is.
bool has_nvidia_driver();

// A child of the agent, leader of a session of its own; it dies with the socket. A library that hangs holds up nobody
// but the helper, and what it said last is then forgotten. One thread: that of the loop.
class GpuHelper {
 public:
  explicit GpuHelper(boost::asio::io_context& loop) : socket_(loop) {}
  ~GpuHelper() { end(); }
  GpuHelper(const GpuHelper&) = delete;
  GpuHelper& operator=(const GpuHelper&) = delete;

  // Error (Spawn): there is none, now or later.
  Result<void> start();
  // `told` is called once, from the loop, with the answer or when there will be none. False: it does not run, has not
  // answered yet, or would cost too much (os::gpu_interval()).
  bool ask(std::function<void()> told);
  // The same, whatever it costs.
  bool ask_at_once(std::function<void()> told);
  // What it said last.
  const std::vector<AcceleratorUse>& devices() const { return devices_; }
  void end();  // at once, by SIGKILL; it is still to be reaped

  bool is(pid_t pid) const { return pid_ > 0 && pid == pid_; }
  // That child of ours has been reaped; true: it was this one.
  bool ended(pid_t pid);

 private:
  void await();
  void read();
  bool take(std::string_view line);
  void answer();
  void close();

  boost::asio::posix::stream_descriptor socket_;
  pid_t pid_ = -1;
  std::function<void()> told_;  // empty: nothing has been asked
  TimePoint asked_at_;
  TimePoint next_;  // before which it is not asked
  std::string text_;
  std::vector<AcceleratorUse> devices_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
