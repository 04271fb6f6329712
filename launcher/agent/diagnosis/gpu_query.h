// Asks nvidia-smi how busy NVIDIA's devices are.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/usage.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/diagnosis/tool_run.h"

namespace sml::agent {

// Each question is one run of nvidia-smi, a child of this process and the leader of its own session. On a host with
// eight devices a run takes tens to hundreds of milliseconds of processor time, and it holds locks of the driver; so
// ask() keeps to os::gpu_interval(). A question during a run starts no other. A run that takes 10 seconds is killed; if
// the driver keeps it from ending even then, no further question is asked. One thread: that of the loop.
class GpuQuery {
 public:
  explicit GpuQuery(boost::asio::io_context& loop) : loop_(loop), limit_(loop) {}
  GpuQuery(const GpuQuery&) = delete;
  GpuQuery& operator=(const GpuQuery&) = delete;

  // Looks for nvidia-smi, if this host has NVIDIA's driver: in PATH, and where Kubernetes' plugins put it. Without it
  // no question is asked. Trims its environment here, once (os::keep_trusted_lists()): a file server that has one of
  // those folders may stand still later. Returns, the first time in this process, why programs of that name are not
  // run: other users may have changed them.
  std::vector<std::string> find();
  // Starts a run, and calls `done` once, from the loop, when it has ended or was killed; not after end(). Returns
  // false, and never calls `done`, if there is no nvidia-smi or it does not start, if the last run has not ended, or if
  // the next one is not due yet.
  bool ask(std::function<void()> done);
  // Like ask(), but always due: for the time in which no workers run.
  bool ask_at_once(std::function<void()> done);
  // The devices of the last answer; empty if there is none, or the last run has failed.
  const std::vector<AcceleratorUse>& devices() const { return devices_; }
  void end();  // kills the run by SIGKILL and does not reap it; no further one is started

  bool is(pid_t pid) const { return pid > 0 && run_ && run_->pid() == pid; }
  // Call after a child of this process has been reaped. Returns true if it was nvidia-smi.
  bool ended(pid_t pid) { return run_ && run_->ended(pid); }

 private:
  void take(std::string_view listing);

  boost::asio::io_context& loop_;
  boost::asio::steady_timer limit_;       // the time for a run
  std::string file_;                      // nvidia-smi; empty: no question is asked
  std::vector<std::string> environment_;  // of its runs
  std::unique_ptr<ToolRun> run_;          // the last one; null: there was none
  std::function<void()> done_;            // empty: no question is pending
  TimePoint asked_at_;
  TimePoint next_;  // the earliest time of the next question by ask()
  std::vector<AcceleratorUse> devices_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
