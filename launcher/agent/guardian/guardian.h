// The process above the agent: it sees to it that nothing survives an agent that dies before its work is done.
#pragma once
#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/agent/core/scratch_folder.h"
#include "launcher/agent/os/cgroup.h"

namespace sml::agent {

// In memory that the agent and its guardian share.
struct GuardianState {
  std::atomic<std::uint32_t> stand_still_ms = 30'000;  // how long either may be stopped before it counts as lost
};

// The signal that the agent gets when its parent has died; Guard::is_lost() tells whether that was its guardian.
inline constexpr int kParentDied = SIGUSR1;

// The guardian's name in the list of processes.
inline constexpr const char* kGuardianName = "sml-run-guard";

// How long a process has been stopped while we were not: where the whole host stands still, nobody is to blame. What
// passes between two looks counts for no more than `longest`.
class StandStill {
 public:
  Duration look(bool stopped, Duration longest);

 private:
  std::optional<TimePoint> last_look_;  // at which it was stopped
  Duration stood_ = Duration::zero();
};

// The agent's side of its guardian. One thread.
class Guard {
 public:
  virtual ~Guard() = default;

  // A guardian that the agent has made is its child, and no worker.
  virtual bool is(pid_t child) const = 0;
  // How long either may be stopped before it counts as lost.
  virtual void allow(std::chrono::milliseconds stand_still) = 0;
  // Kills a guardian that stays stopped; to be called from time to time, and cheap if that is often.
  virtual void look() = 0;
  // After kParentDied: whether the parent was the guardian.
  virtual bool is_lost() const = 0;
  // Makes another, when the one before has died.
  virtual Result<void> replace() = 0;
};

class SystemGuard final : public Guard {
 public:
  // `mark` is that of the workers (leftovers.h); all else outlives this.
  SystemGuard(GuardianState& shared_state, std::string mark, const ScratchFolder& scratch,
              std::optional<os::Cgroup>& cgroup);
  ~SystemGuard() override;  // ends a guardian that the agent has made
  SystemGuard(const SystemGuard&) = delete;
  SystemGuard& operator=(const SystemGuard&) = delete;

  bool is(pid_t child) const override { return is_below_ && child == pid_; }
  void allow(std::chrono::milliseconds stand_still) override;
  void look() override;
  bool is_lost() const override;
  Result<void> replace() override;

 private:
  [[noreturn]] void watch_from_below(pid_t agent);

  GuardianState& shared_state_;
  std::string mark_;
  const ScratchFolder& scratch_;
  std::optional<os::Cgroup>& cgroup_;
  pid_t pid_;
  bool is_below_ = false;
  StandStill stood_;
  std::optional<TimePoint> looked_at_;
};

// Forks: this process becomes the guardian, and the child goes on as the agent: `serve` is called there, and its result
// is the child's exit status. The guardian, which holds no descriptor of the agent's and does nothing but wait, answers
// that status when the agent has left.
//
// If the agent is killed, its workers die with it (PR_SET_PDEATHSIG), and the processes that they had started become
// children of the guardian, which is a subreaper too and ends them with SIGKILL; after some seconds it gives up on
// processes that cannot be ended. Where a cgroup can be made for all of them, the guardian kills it as a whole, so that
// not even a fork bomb escapes. An agent that is stopped (SIGSTOP) receives nothing, so the launcher gives it up after
// the heartbeat timeout; the guardian then does the same. The guardian forwards a stop signal (stop_rule.h) to the
// agent, which gives its workers their grace period: batch systems send such a signal to every process of a job.
//
// If the guardian is killed, or stopped for as long, the agent makes another and goes on. No process can be put above
// one that runs: that one is a child of the agent, and orphans do not come to it. It ends all of the cgroup, and
// elsewhere what carries the mark of the job (leftovers.h). sshd, whose child the first guardian is, tells of its death
// and closes the agent's input; the launcher comes back (reconnect_socket.h), but where it has a command in the place
// of SSH that cannot tell the two ends apart: there the host is lost.
//
// Only both killed at the same moment leave something: processes that workers had started, the agent's scratch folder,
// and the cgroup. The launcher comes back for these (leftovers.h); the next guardian removes the cgroup once it is
// empty.
//
// The agent's scratch folder is the guardian's, so that it goes even if the agent is killed.
int guard(const std::string& mark, const std::function<int(Guard&, const ScratchFolder&)>& serve);

}  // namespace sml::agent
