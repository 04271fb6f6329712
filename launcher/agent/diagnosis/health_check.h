// Checks whether workers can be started on this host: by the kernel's own data, by a command of the user's, and by the
// memory that the accelerators still hold.
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
#include "launcher/agent/diagnosis/gpu_helper.h"
#include "launcher/agent/diagnosis/tool_run.h"

namespace sml::agent {

// Runs one check at a time. The command is a child of this process and the leader of its own session.
class HealthCheck {
 public:
  // `tell` receives the answer to the last request.
  using Tell = std::function<void(wire::Health)>;
  HealthCheck(boost::asio::io_context& loop, Tell tell)
      : loop_(loop), tell_(std::move(tell)), tick_(loop), gpus_(loop) {}
  HealthCheck(const HealthCheck&) = delete;
  HealthCheck& operator=(const HealthCheck&) = delete;

  // Notes what the accelerators hold before any worker runs; only the first call counts. Unless `nvidia` is No,
  // NVIDIA's are included, for which a helper then runs from this call on.
  void remember(wire::AcceleratorLook nvidia);
  // Starts a check in `directory` with `environment`. `faults`: faults that are known already; if there are any,
  // reports the first and checks nothing else.
  void begin(const wire::AskHealth& asked, std::vector<std::string> faults, const plan::Environment& environment,
             const std::string& directory);
  // Cancels the check; no answer is sent.
  void end();
  // True for a child of this process that this object started and that has not been reaped.
  bool is(pid_t pid) const;
  // A child of this process has been reaped.
  void ended(pid_t pid, const ExitStatus& status);

 private:
  void run(const plan::Environment& environment, const std::string& directory);
  void look();
  void ask_gpus();
  std::vector<std::string> held() const;
  void answer(std::string fault);
  std::string last_words() const;

  boost::asio::io_context& loop_;
  Tell tell_;
  boost::asio::steady_timer tick_;
  wire::AskHealth asked_;
  TimePoint begun_;
  bool waited_for_ = false;
  std::unique_ptr<ToolRun> command_;  // set while there is a command that has not ended with status 0
  std::optional<ExitStatus> status_;  // its status, if that is not 0
  bool said_all_ = false;             // its output has ended
  std::vector<pid_t> pids_;           // not reaped yet
  bool remembers_ = false;
  std::vector<std::string> folders_;  // of the accelerators
  std::vector<AcceleratorUse> before_;
  GpuHelper gpus_;
  enum class Gpus : std::uint8_t { Unwatched, Unknown, Known };  // Known: since begin()
  Gpus gpus_state_ = Gpus::Unwatched;
  bool gpus_remembered_ = false;
  Lifetime lifetime_;
};

}  // namespace sml::agent
