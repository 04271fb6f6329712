// Children of the agent that no worker is: their parents have ended, or they have left a worker's group.
#pragma once
#include <unordered_set>
#include <vector>

#include <sys/types.h>

#include "launcher/agent/preload.h"
#include "launcher/agent/worker_group.h"

namespace sml::agent {

class Orphans {
 public:
  // Both outlive this. What `preload` is does not count.
  Orphans(const WorkerGroup& workers, const Preload& preload) : workers_(workers), preload_(preload) {}

  // Each of them once, as more come while their parents end, until ask_anew().
  void ask_to_end(int signo);
  void ask_anew() { asked_.clear(); }
  // Its process id may come again.
  void forget(pid_t pid) { asked_.erase(pid); }
  // When no worker is left.
  bool any() const { return !children().empty(); }

 private:
  std::vector<pid_t> children() const;

  const WorkerGroup& workers_;
  const Preload& preload_;
  std::unordered_set<pid_t> asked_;
};

}  // namespace sml::agent
