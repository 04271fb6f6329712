#include "launcher/agent/orphans.h"

#include <csignal>

#include "common/os/descendants.h"

namespace sml::agent {

void Orphans::ask_to_end(int signo) {
  for (const pid_t pid : children()) {
    if (workers_.is_worker(pid) || !asked_.insert(pid).second) continue;
    ::kill(pid, signo);
    if (signo != SIGKILL) ::kill(pid, SIGCONT);
  }
}

std::vector<pid_t> Orphans::children() const {
  std::vector<pid_t> out = os::children();
  std::erase_if(out, is_own_);
  return out;
}

}  // namespace sml::agent
