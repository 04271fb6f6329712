// Children of the agent that are not workers: their parents have ended, or they have left a worker's process group.
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
  // All outlive this. What `is_own` knows, which the agent has for itself, does not count.
  Orphans(Processes& processes, const WorkerGroup& workers, const std::function<bool(pid_t)>& is_own)
      : processes_(processes), workers_(workers), is_own_(is_own) {}

  // Signals each orphan once until ask_anew(), as more may come while their parents end.
  void ask_to_end(int signo);
  void ask_anew() { asked_.clear(); }
  // To be called after the process was reaped, as its id may be reused.
  void forget(pid_t pid) { asked_.erase(pid); }
  // To be called when no worker is left.
  bool any() const { return !children().empty(); }

 private:
  std::vector<pid_t> children() const;

  Processes& processes_;
  const WorkerGroup& workers_;
  const std::function<bool(pid_t)>& is_own_;
  std::unordered_set<pid_t> asked_;
};

}  // namespace sml::agent
