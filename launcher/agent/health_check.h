// Whether workers can be started on this host: by what the kernel says, by a command of the user's, and by what the
// accelerators still hold.
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
#include "common/plan/worker_env.h"
#include "common/wire/messages.h"
#include "launcher/agent/gpu_helper.h"
#include "launcher/agent/lifetime.h"
#include "launcher/agent/tool_run.h"

namespace sml::agent {

// One at a time. The command is a child of this process and leader of a session of its own.
class HealthCheck {
 public:
  // `tell` gets the answer to what was asked last.
  using Tell = std::function<void(wire::Health)>;
  HealthCheck(boost::asio::io_context& loop, Tell tell)
      : loop_(loop), tell_(std::move(tell)), tick_(loop), gpus_(loop) {}
  HealthCheck(const HealthCheck&) = delete;
  HealthCheck& operator=(const HealthCheck&) = delete;

  // Before workers run; what the accelerators hold at the first call is not theirs. NVIDIA's are asked, for which a
  // helper runs from then on, where that is wanted.
  void remember(wire::AcceleratorLook nvidia);
  // In that directory, with that environment. `faults`: what is known already; then nothing else is looked at.
  void begin(const wire::AskHealth& asked, std::vector<std::string> faults, const plan::Environment& environment,
             const std::string& directory);
  // Nobody waits for the answer any more.
  void end();
  // A child of this process that is its, or was: to be reaped.
  bool is(pid_t pid) const;
  // Somebody has waited for that child.
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
  std::unique_ptr<ToolRun> command_;  // there is one, and it has not ended with 0
  std::optional<ExitStatus> status_;  // ... but otherwise
  bool said_all_ = false;             // it has
  std::vector<pid_t> pids_;           // to be reaped
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
