#include "launcher/agent/guardian.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/os/cgroup.h"
#include "common/os/descendants.h"

namespace sml::agent {

namespace {

constexpr Duration kPatience = std::chrono::seconds(5);
constexpr timespec kLookAgain{.tv_sec = 0, .tv_nsec = 20'000'000};

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signo : {SIGCHLD, SIGTERM}) sigaddset(&set, signo);
  return set;
}

// Kills whatever has come to us until nothing is left; each death may bring more.
void end_orphans(std::optional<os::Cgroup>& cgroup) {
  const TimePoint give_up = Clock::now() + kPatience;
  const sigset_t awaited = awaited_signals();
  while (Clock::now() < give_up) {
    os::reap_children([](pid_t, const ExitStatus&) {});
    const std::vector<pid_t> left = os::children();
    const bool populated = cgroup && cgroup->populated();
    if (left.empty() && !populated) return;
    if (populated) cgroup->kill();
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    ::sigtimedwait(&awaited, nullptr, &kLookAgain);
  }
}

int watch(pid_t agent, std::optional<os::Cgroup>& cgroup) {
  const sigset_t awaited = awaited_signals();
  int status = 1;
  for (bool agent_lives = true; agent_lives;) {
    if (::sigwaitinfo(&awaited, nullptr) == SIGTERM) ::kill(agent, SIGKILL);
    os::reap_children([&](pid_t pid, const ExitStatus& ended) {
      if (pid != agent) return;
      agent_lives = false;
      status = exit_code_of(ended);
    });
  }
  end_orphans(cgroup);
  return status;
}

}  // namespace

int guard(const std::function<int()>& serve) {
  os::become_subreaper();
  const pid_t guardian = ::getpid();
  sigset_t before;
  const sigset_t awaited = awaited_signals();
  ::sigprocmask(SIG_BLOCK, &awaited, &before);  // none may be missed between fork and wait
  std::optional<os::Cgroup> cgroup = os::Cgroup::make();
  pid_t agent = cgroup ? cgroup->fork_into() : ::fork();
  if (agent < 0 && cgroup) {
    cgroup.reset();
    agent = ::fork();
  }
  if (agent != 0) {
    if (agent < 0) return 1;
    ::prctl(PR_SET_NAME, "sml-run-guard");
    // The launcher must see the end of the agent's output when the agent ends, not when we do.
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
    return watch(agent, cgroup);
  }
  if (cgroup) cgroup->disown();
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != guardian) return 1;
  return serve();
}

}  // namespace sml::agent
