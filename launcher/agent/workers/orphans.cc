#include "launcher/agent/workers/orphans.h"

#include <csignal>

namespace sml::agent {

void Orphans::ask_to_end(int signo) {
  for (const pid_t pid : children()) {
    if (workers_.is_worker(pid) || !asked_.insert(pid).second) continue;
    processes_.signal(pid, signo);
    if (signo != SIGKILL) processes_.signal(pid, SIGCONT);
  }
}

std::vector<pid_t> Orphans::children() const {
  std::vector<pid_t> out = processes_.children();
  std::erase_if(out, [this](pid_t pid) { return owner_.is_own(pid); });
  return out;
}

}  // namespace sml::agent
