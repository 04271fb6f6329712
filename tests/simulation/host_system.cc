#include "tests/simulation/host_system.h"

#include "tests/simulation/host.h"

namespace sml::sim {

std::variant<pid_t, SpawnFailed> HostProcesses::start(const os::WorkerProcess& worker) {
  return of_.host().spawn(of_, worker);
}

void HostProcesses::signal(pid_t pid, int signo) { of_.host().signal(pid < 0 ? -pid : pid, signo); }

std::vector<pid_t> HostProcesses::children() { return of_.host().children(of_); }

void HostProcesses::reap(const Ended& ended) {
  of_.host().reap(of_, [&ended](pid_t pid, const ExitStatus& status) { ended(pid, status, Usage()); });
}

}  // namespace sml::sim
