#include "launcher/agent/core/processes.h"

#include <csignal>

#include "common/os/descendants.h"

namespace sml::agent {

std::variant<pid_t, SpawnFailed> SystemProcesses::start(const os::WorkerProcess& worker) {
  return os::spawn_worker(worker);
}

void SystemProcesses::signal(pid_t pid, int signo) { ::kill(pid, signo); }

std::vector<pid_t> SystemProcesses::children() { return os::children(); }

void SystemProcesses::reap(const Ended& ended) { os::reap_children(ended); }

Leftovers SystemProcesses::end_leftovers(const wire::EndLeft& job) { return agent::end_leftovers(job); }

}  // namespace sml::agent
