// What an agent asks of its system, in the simulation: the processes of its host, which are made up.
#pragma once
#include <variant>
#include <vector>

#include <sys/types.h>

#include "launcher/agent/processes.h"

namespace sml::sim {

class AgentProcess;

class HostProcesses final : public agent::Processes {
 public:
  explicit HostProcesses(AgentProcess& of) : of_(of) {}

  std::variant<pid_t, SpawnFailed> start(const os::WorkerProcess& worker) override;
  void signal(pid_t pid, int signo) override;
  std::vector<pid_t> children() override;
  void reap(const Ended& ended) override;
  // Guardians have ended everything.
  agent::Leftovers end_leftovers(const wire::EndLeft&) override { return {}; }

 private:
  AgentProcess& of_;
};

}  // namespace sml::sim
