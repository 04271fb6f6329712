// Orphans: processes that workers have started and whose parents have ended, so that they are children of the agent
// now, which is a subreaper. A signal to a worker's process group does not reach the ones that have left that group.
//
// The helper processes of services are children of the agent, too, and get the same signals as orphans. So a helper
// that workers need until they have ended heeds none that it can ignore or block; HostService::end() has it exit when
// no worker is left. Other helpers, such as nvidia-smi and py-spy, end by these signals.
#pragma once
#include <unordered_set>
#include <vector>

#include <sys/types.h>

#include "launcher/agent/core/processes.h"
#include "launcher/agent/workers/attempt_deps.h"
#include "launcher/agent/workers/worker_group.h"

namespace sml::agent {

class Orphans {
 public:
  // All arguments must outlive this object. A child that is the owner's own is no orphan.
  Orphans(Processes& processes, const WorkerGroup& workers, const HostAttemptOwner& owner)
      : processes_(processes), workers_(workers), owner_(owner) {}

  // Sends each orphan the signal and, unless that is SIGKILL, SIGCONT, so that a stopped one handles it. Skips orphans
  // that have been signalled since ask_anew(): this is to be called again as parents end and more orphans come.
  void ask_to_end(int signo);
  void ask_anew() { asked_.clear(); }
  // To be called after the process was reaped, as its id may be reused.
  void forget(pid_t pid) { asked_.erase(pid); }
  // True if there is an orphan. To be called when no worker is left, since a worker would count.
  bool any() const { return !children().empty(); }

 private:
  std::vector<pid_t> children() const;  // orphans and workers

  Processes& processes_;
  const WorkerGroup& workers_;
  const HostAttemptOwner& owner_;
  std::unordered_set<pid_t> asked_;  // signalled since ask_anew()
};

}  // namespace sml::agent
