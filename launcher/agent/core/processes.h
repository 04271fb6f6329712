// The interface by which an agent starts, signals and collects (reaps) the processes of its host. SystemProcesses asks
// the system; tests/simulation has an implementation of its own.
#pragma once
#include <functional>
#include <variant>
#include <vector>

#include <sys/types.h>

#include "common/core/exit_status.h"
#include "common/core/usage.h"
#include "common/os/spawn.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/leftovers.h"

namespace sml::agent {

// One thread. Children of the agent are workers and helpers, from their start, and orphans (workers/orphans.h), from
// the end of their parent. The process id of a child is not used again before the child has been collected.
class Processes {
 public:
  virtual ~Processes() = default;

  // Starts a worker; returns its process id, or why it does not run. See os::spawn_worker().
  virtual std::variant<pid_t, SpawnFailed> start(const os::WorkerProcess& worker) = 0;
  // As in kill(2), a negative `pid` is a process group. Does nothing if the process or group is gone.
  virtual void signal(pid_t pid, int signo) = 0;
  // All children of the agent, also the ones that have ended and have not been collected.
  virtual std::vector<pid_t> children() = 0;
  // Collects the children that have ended, without waiting; calls `ended` for each.
  using Ended = std::function<void(pid_t pid, const ExitStatus& status, const Usage& usage)>;
  virtual void reap(const Ended& ended) = 0;
  // Ends what another agent, which is dead, has left on this host: see leftovers.h.
  virtual Leftovers end_leftovers(const wire::EndLeft& job) = 0;
};

// The processes of this machine.
class SystemProcesses final : public Processes {
 public:
  std::variant<pid_t, SpawnFailed> start(const os::WorkerProcess& worker) override;
  void signal(pid_t pid, int signo) override;
  std::vector<pid_t> children() override;
  void reap(const Ended& ended) override;
  Leftovers end_leftovers(const wire::EndLeft& job) override;
};

}  // namespace sml::agent
