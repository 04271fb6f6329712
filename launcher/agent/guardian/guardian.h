// The guardian: the parent process of the agent. If the agent dies before its work is done, the guardian ends what the
// workers leave behind.
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

// State in memory that the agent and its guardian share.
struct GuardianState {
  std::atomic<std::uint32_t> stand_still_ms = 30'000;  // how long either may be stopped before it counts as lost
};

// The signal that the agent gets when its parent has died; Guard::is_lost() returns whether that was its guardian.
inline constexpr int kParentDied = SIGUSR1;

// The guardian's name in the list of processes.
inline constexpr const char* kGuardianName = "sml-run-guard";

// Measures how long another process has been stopped (by SIGSTOP, for example) while this process ran. At most
// `longest` of the time between two calls of look() counts: if more has passed, the whole host may have stood still.
class StandStill {
 public:
  // To be called from time to time; `stopped`: the process is stopped now. Returns the measured time; 0 if it runs.
  Duration look(bool stopped, Duration longest);

 private:
  std::optional<TimePoint> last_look_;  // the last call of look(); nullopt if the process ran then
  Duration stood_ = Duration::zero();
};

// The agent's side of its guardian. One thread.
class Guard {
 public:
  virtual ~Guard() = default;

  // True if this child of the agent is a guardian that replace() has made. The first guardian is the agent's parent.
  virtual bool is(pid_t child) const = 0;
  // Sets how long agent or guardian may be stopped before it counts as lost.
  virtual void allow(std::chrono::milliseconds stand_still) = 0;
  // Kills a guardian that has been stopped for longer than that. To be called from time to time; cheap if called often.
  virtual void look() = 0;
  // To be called after kParentDied: true if the parent that died was the guardian.
  virtual bool is_lost() const = 0;
  // Makes another guardian when the current one has died. Error: no process can be made.
  virtual Result<void> replace() = 0;
};

class SystemGuard final : public Guard {
 public:
  // `mark` is the mark by which end_leftovers() finds the workers. All references outlive this object.
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
  // The whole run of a guardian that replace() has made, in its own process.
  [[noreturn]] void watch_from_below(pid_t agent);

  GuardianState& shared_state_;
  std::string mark_;
  const ScratchFolder& scratch_;
  std::optional<os::Cgroup>& cgroup_;
  pid_t pid_;              // the current guardian
  bool is_below_ = false;  // the guardian is a child of the agent, made by replace()
  StandStill stood_;       // of the guardian
  std::optional<TimePoint> looked_at_;
};

// Forks. This process becomes the guardian; the child goes on as the agent: it calls `serve`, and returns its result as
// the exit status. The guardian holds no descriptor of the agent and only waits; it returns the agent's exit status
// after the agent has ended. If the guardian or the agent cannot be set up, the result is 1.
//
// If the agent is killed, its workers die with it (PR_SET_PDEATHSIG). The processes that they had started become
// children of the guardian, which is a subreaper, too, and ends them with SIGKILL; after some seconds it gives up on
// processes that cannot be ended. Where a cgroup can be made for all of them, the guardian kills it as a whole, so that
// not even a fork bomb escapes. An agent that is stopped (SIGSTOP) receives nothing, so the launcher gives it up after
// the heartbeat timeout; the guardian kills it after GuardianState::stand_still_ms. The guardian forwards a stop signal
// (kStopSignals) to the agent, which gives its workers their grace period: batch systems send such a signal to every
// process of a job. A stopped agent is continued for it. Both ignore kNoticeSignals.
//
// If the guardian is killed, or is stopped for that long, the agent makes another and goes on. No process can become
// the parent of one that runs, so this second guardian is a child of the agent, and orphans do not become its children.
// If the agent dies, this guardian ends all processes of the cgroup, or without one the processes with the mark of the
// job (leftovers.h). sshd, whose child the first guardian is, reports that guardian's death and closes the agent's
// input; the launcher then reconnects (reconnect_socket.h), within the heartbeat timeout. A command in the place of SSH
// cannot distinguish this from the end of the agent: there the host is lost.
//
// If agent and guardian are killed at the same moment, something stays: processes that workers had started, the scratch
// folder, and the cgroup. The launcher connects again and ends these (leftovers.h); the next guardian on the host
// removes the cgroup once it is empty.
//
// The guardian removes the scratch folder at its end, too, so that the folder goes even if the agent is killed.
int guard(const std::string& mark, const std::function<int(Guard&, const ScratchFolder&)>& serve);

}  // namespace sml::agent
