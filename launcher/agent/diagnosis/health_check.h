// Checks for the launcher whether workers can be started on this host: by the command of --health-check, and by the
// memory that is still in use on the accelerators. The caller adds problems that it has found in the kernel's data
// (host_health.h).
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/exit_status.h"
#include "common/core/usage.h"
#include "common/plan/environment/worker_env.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/diagnosis/gpu_query.h"
#include "launcher/agent/diagnosis/tool_run.h"

namespace sml::agent {

// Runs one check at a time. The command is a child of this process and the leader of its own session.
class HealthCheck {
 public:
  // Receives the result of each check that is not cancelled; the host is healthy if the message names no faults.
  using Tell = std::function<void(wire::Health)>;
  HealthCheck(boost::asio::io_context& loop, Tell tell)
      : loop_(loop), tell_(std::move(tell)), tick_(loop), gpus_(loop) {}
  HealthCheck(const HealthCheck&) = delete;
  HealthCheck& operator=(const HealthCheck&) = delete;

  // Records how much memory is in use on the accelerators before any worker runs; only the first call counts. Unless
  // `nvidia` is No, this includes NVIDIA's devices, by the first answer of nvidia-smi. Returns the warnings of
  // GpuQuery::find().
  std::vector<std::string> remember(wire::AcceleratorLook nvidia);
  // Cancels the pending check and starts one; its command runs in `directory` with `environment`. `problems`: problems
  // of this host that are known already, each as a part of a sentence; if there are any, the check reports the first
  // and does nothing else. The result may come before this returns.
  void begin(const wire::AskHealth& asked, std::vector<std::string> problems, const plan::Environment& environment,
             const std::string& directory);
  // Cancels the check and kills its command; no result is reported.
  void end();
  // True for a child of this process that this object started and that has not been reaped, and for what the last
  // command has left in its process group, which is killed and about to die.
  bool is(pid_t pid) const;
  // Call after a child of this process has been reaped, whether is() was true for it or not.
  void ended(pid_t pid, const ExitStatus& status);

 private:
  void run(const plan::Environment& environment, const std::string& directory);
  void look();
  bool ask_gpus();                        // see GpuQuery::ask_at_once()
  std::vector<std::string> held() const;  // names of accelerators that still hold too much memory
  void answer(std::string fault);         // empty: the host is healthy
  std::string last_output() const;        // the end of the command's output, for the fault

  boost::asio::io_context& loop_;
  Tell tell_;
  boost::asio::steady_timer tick_;
  wire::AskHealth asked_;
  TimePoint begun_;
  bool waited_for_ = false;             // a check is under way
  std::string left_out_;                // by the command, see os::TrustedCommand
  std::unique_ptr<ToolRun> command_;    // null: the check has no command, or it has ended with status 0
  std::optional<ExitStatus> status_;    // of the command, if it has failed
  bool said_all_ = false;               // the command's output has ended
  std::vector<pid_t> pids_;             // of commands of all checks, not reaped yet
  pid_t group_ = -1;                    // of the last command
  bool remembers_ = false;              // remember() has been called
  std::vector<std::string> folders_;    // of accelerators that report in files
  std::vector<AcceleratorUse> before_;  // the values that remember() has recorded
  GpuQuery gpus_;
  // NVIDIA's devices. Unwatched: nobody asks; Unknown: no question since begin() has been answered; Known: one has.
  enum class Gpus : std::uint8_t { Unwatched, Unknown, Known };
  Gpus gpus_state_ = Gpus::Unwatched;
  bool gpus_remembered_ = false;  // before_ includes NVIDIA's devices
  Lifetime lifetime_;
};

}  // namespace sml::agent
