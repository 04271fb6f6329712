#include "launcher/os/init_process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include "common/core/exit_status.h"
#include "common/os/descendants.h"

namespace sml::os {

namespace {

[[noreturn]] void watch(pid_t work, const sigset_t& all) {
  for (;;) {
    siginfo_t info{};
    const int signo = ::sigwaitinfo(&all, &info);
    if (signo > 0 && signo != SIGCHLD) ::kill(work, signo);
    reap_children([work](pid_t pid, const ExitStatus& status, const Usage&) {
      if (pid == work) std::_Exit(exit_code_of(status));
    });
  }
}

}  // namespace

void serve_as_init() {
  if (::getpid() != 1) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t work = ::fork();
  if (work > 0) watch(work, all);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);  // also if fork failed: better without an init than not at all
}

}  // namespace sml::os
