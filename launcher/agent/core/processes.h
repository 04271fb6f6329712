// The processes of a host, as its agent starts, signals and collects them: what the agent asks of the system, and what
// stands in for it in tests/simulation.
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

// One thread. Workers and orphans are children of the agent from their start, or from their parent's end, until they
// have been collected; that long their numbers are their own.
class Processes {
 public:
  virtual ~Processes() = default;

  // See os::spawn_worker().
  virtual std::variant<pid_t, SpawnFailed> start(const os::WorkerProcess& worker) = 0;
  // As kill(2) has it, a negative number is a process group. One that is gone is no error.
  virtual void signal(pid_t pid, int signo) = 0;
  // All of them, those that have ended and wait to be collected too.
  virtual std::vector<pid_t> children() = 0;
  // Collects those that have ended, without waiting; calls `ended` for each.
  using Ended = std::function<void(pid_t pid, const ExitStatus& status, const Usage& usage)>;
  virtual void reap(const Ended& ended) = 0;
  // See agent::end_leftovers(): of another agent, which is dead.
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
