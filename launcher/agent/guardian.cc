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
#include "common/os/cgroup.h"
#include "common/os/descendants.h"

namespace sml::agent {

namespace {

constexpr Duration kPatience = std::chrono::seconds(5);
constexpr Duration kStopLook = std::chrono::milliseconds(100);
constexpr timespec kStopLookSpec{.tv_sec = 0, .tv_nsec = 100'000'000};
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

// How long the agent has been stopped while we were not: where the whole host stands still, nobody is to blame.
class StopWatch {
 public:
  explicit StopWatch(pid_t agent) : agent_(agent) {}

  Duration look() {
    siginfo_t news{};
    while (::waitid(P_PID, static_cast<id_t>(agent_), &news, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
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
  pid_t agent_;
  bool stopped_ = false;
  Duration stood_ = Duration::zero();
  TimePoint last_look_;
};

int watch(pid_t agent, const Pact& pact, std::optional<os::Cgroup>& cgroup) {
  const sigset_t awaited = awaited_signals();
  int status = 1;
  StopWatch stop_watch(agent);
  for (bool agent_lives = true; agent_lives;) {
    const int signo =
        stop_watch.stopped() ? ::sigtimedwait(&awaited, nullptr, &kStopLookSpec) : ::sigwaitinfo(&awaited, nullptr);
    if (signo == SIGTERM) ::kill(agent, SIGKILL);
    if (stop_watch.look() > std::chrono::milliseconds(pact.stand_still_ms)) ::kill(agent, SIGKILL);
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

int guard(const std::function<int(Pact&, const ScratchFolder&)>& serve) {
  void* shared = ::mmap(nullptr, sizeof(Pact), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  Pact& pact = *new (shared) Pact;
  os::become_subreaper();
  const pid_t guardian = ::getpid();
  sigset_t before;
  const sigset_t awaited = awaited_signals();
  // None may be missed between fork and wait, nor end us before we have cleaned up.
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  const ScratchFolder scratch;
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
    return watch(agent, pact, cgroup);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != guardian) return 1;
  const int status = serve(pact, scratch);
  if (cgroup && ::getppid() != guardian) cgroup->leave();  // nobody else is left who could remove it
  return status;
}

}  // namespace sml::agent
