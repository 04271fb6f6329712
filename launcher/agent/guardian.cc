#include "launcher/agent/guardian.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <new>
#include <optional>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/stop_signals.h"
#include "common/os/cgroup.h"
#include "common/os/descendants.h"

namespace sml::agent {

namespace {

constexpr Duration kGuardPatience = std::chrono::seconds(5);
constexpr Duration kStopLook = std::chrono::milliseconds(100);
constexpr timespec kStopLookSpec{.tv_sec = 0, .tv_nsec = 100'000'000};
constexpr timespec kLookAgain{.tv_sec = 0, .tv_nsec = 20'000'000};

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signo : kStopSignals) sigaddset(&set, signo);
  return set;
}

// Kills whatever has come to us until nothing is left; each death may bring more.
void end_orphans(std::optional<os::Cgroup>& cgroup) {
  const TimePoint give_up = Clock::now() + kGuardPatience;
  const sigset_t awaited = awaited_signals();
  while (Clock::now() < give_up) {
    os::reap_children([](pid_t, const ExitStatus&, const Usage&) {});
    const std::vector<pid_t> left = os::children();
    const bool populated = cgroup && cgroup->populated();
    if (left.empty() && !populated) return;
    if (populated) cgroup->kill();
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    ::sigtimedwait(&awaited, nullptr, &kLookAgain);
  }
}

// How long a child has been stopped while we were not: where the whole host stands still, nobody is to blame.
class StopWatch {
 public:
  explicit StopWatch(pid_t child) : child_(child) {}

  // What it did before its signals came to us is not signalled again.
  void has_come_from_another() { stopped_ = os::is_stopped(child_); }

  Duration look() {
    siginfo_t news{};
    while (::waitid(P_PID, static_cast<id_t>(child_), &news, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
           news.si_pid != 0) {
      stopped_ = news.si_code == CLD_STOPPED;
      stood_ = Duration::zero();
      last_look_ = Clock::now();
      news = {};
    }
    if (!stopped_) return Duration::zero();
    const TimePoint now = Clock::now();
    stood_ += std::min(now - last_look_, 2 * kStopLook);
    last_look_ = now;
    return stood_;
  }
  bool stopped() const { return stopped_; }

 private:
  pid_t child_;
  bool stopped_ = false;
  Duration stood_ = Duration::zero();
  TimePoint last_look_ = Clock::now();
};

// As opposed to one that the guardian has collected before its own end.
bool is_our_child(pid_t pid) {
  siginfo_t news{};
  return pid > 0 && ::waitid(P_PID, static_cast<id_t>(pid), &news, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// Until `child`, the guardian or the agent, has ended; its status, or the agent's if that was collected with it.
int watch_one(pid_t child, const Pact& pact) {
  const sigset_t awaited = awaited_signals();
  StopWatch stop_watch(child);
  if (pact.agent == child && pact.keeper == ::getpid()) stop_watch.has_come_from_another();
  for (;;) {
    const int signo =
        stop_watch.stopped() ? ::sigtimedwait(&awaited, nullptr, &kStopLookSpec) : ::sigwaitinfo(&awaited, nullptr);
    // How it ends is for the agent to say; one that stands still hears nothing.
    if (is_stop(signo)) ::kill(child, stop_watch.stopped() ? SIGKILL : signo);
    if (stop_watch.look() > std::chrono::milliseconds(pact.stand_still_ms)) ::kill(child, SIGKILL);
    std::optional<int> status;
    std::optional<int> of_agent;
    os::reap_children([&](pid_t pid, const ExitStatus& ended, const Usage&) {
      if (pid == child) status = exit_code_of(ended);
      if (pid == pact.agent) of_agent = exit_code_of(ended);
    });
    if (status) return of_agent.value_or(*status);
  }
}

int watch(const char* name, pid_t child, const Pact& pact, std::optional<os::Cgroup>& cgroup) {
  ::prctl(PR_SET_NAME, name);
  // The launcher must see the end of the agent's output when the agent ends, not when we do.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
  int status = watch_one(child, pact);
  if (child != pact.agent && is_our_child(pact.agent)) status = watch_one(pact.agent, pact);
  end_orphans(cgroup);
  return status;
}

pid_t fork_agent(std::optional<os::Cgroup>& cgroup) {
  const pid_t agent = cgroup ? cgroup->fork_into() : ::fork();
  if (agent >= 0 || !cgroup) return agent;
  cgroup.reset();
  return ::fork();
}

}  // namespace

int guard(const std::function<int(Pact&, const ScratchFolder&)>& serve) {
  void* shared = ::mmap(nullptr, sizeof(Pact), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  Pact& pact = *new (shared) Pact;
  pact.keeper = ::getpid();
  os::become_subreaper();
  sigset_t before;
  const sigset_t awaited = awaited_signals();
  // None may be missed between fork and wait, nor end us before we have cleaned up.
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  const ScratchFolder scratch = ScratchFolder::make();
  std::optional<os::Cgroup> cgroup = os::Cgroup::make();
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child != 0) return watch(kKeeperName, child, pact, cgroup);

  os::become_subreaper();
  const pid_t guardian = ::getpid();
  const pid_t agent = fork_agent(cgroup);
  if (agent < 0) return 1;
  if (agent != 0) {
    pact.agent = agent;
    return watch(kGuardianName, agent, pact, cgroup);
  }
  pact.agent = ::getpid();
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::prctl(PR_SET_PDEATHSIG, kParentDied);
  if (::getppid() != guardian) return 1;
  const int status = serve(pact, scratch);
  if (!cgroup) return status;
  const pid_t parent = ::getppid();
  const bool watched = parent == guardian || parent == pact.keeper;
  // With us in it, it cannot be removed.
  if (watched) {
    cgroup->leave_to_others();
  } else {
    cgroup->leave();
  }
  return status;
}

}  // namespace sml::agent
