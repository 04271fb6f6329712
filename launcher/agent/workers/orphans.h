// Orphans: processes that workers have started and whose parents have ended, so that they are children of the agent
// now. A signal to a worker's process group does not reach the ones that have left that group.
#pragma once
#include <functional>
#include <unordered_set>
#include <vector>

#include <sys/types.h>

#include "launcher/agent/core/processes.h"
#include "launcher/agent/workers/worker_group.h"

namespace sml::agent {

class Orphans {
 public:
  // All arguments must outlive this object. A child for which `is_own` is true belongs to the agent itself and is no
  // orphan.
  Orphans(Processes& processes, const WorkerGroup& workers, const std::function<bool(pid_t)>& is_own)
      : processes_(processes), workers_(workers), is_own_(is_own) {}

  // Sends each orphan the signal, then SIGCONT so that a stopped one handles it. Skips orphans that have been signalled
  // since ask_anew(): this is to be called again as parents end and more orphans come.
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
  const std::function<bool(pid_t)>& is_own_;
  std::unordered_set<pid_t> asked_;  // signalled since ask_anew()
};

}  // namespace sml::agent
