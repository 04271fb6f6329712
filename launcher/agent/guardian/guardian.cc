#include "launcher/agent/guardian/guardian.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <new>
#include <utility>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/stop_signals.h"
#include "common/os/descendants.h"
#include "common/os/fd.h"
#include "launcher/agent/core/leftovers.h"

namespace sml::agent {

namespace {

constexpr Duration kGuardTimeout = std::chrono::seconds(5);
constexpr Duration kStopLook = std::chrono::milliseconds(100);
constexpr timespec kStopLookSpec{.tv_sec = 0, .tv_nsec = 100'000'000};
constexpr timespec kLookFromBelow{.tv_sec = 1, .tv_nsec = 0};  // it gets no signal when the agent is stopped
constexpr timespec kLookAgain{.tv_sec = 0, .tv_nsec = 20'000'000};

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, kParentDied);
  for (const int signo : kStopSignals) sigaddset(&set, signo);
  for (const int signo : kNoticeSignals) sigaddset(&set, signo);
  return set;
}

// Kills the orphans of this process until none is left; each death may bring more of them.
void end_orphans(std::optional<os::Cgroup>& cgroup) {
  const TimePoint give_up = Clock::now() + kGuardTimeout;
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

// Checks the living agent each time that the guardian wakes up.
class AgentWatch {
 public:
  AgentWatch(pid_t agent, const GuardianState& shared_state) : agent_(agent), shared_state_(shared_state) {}

  // A stop is never a reason to kill: an agent that is stopped is continued for it, to give its workers their grace.
  void woken(int signo) {
    stopped_ = os::is_stopped(agent_);
    if (is_stop(signo)) ::kill(agent_, signo);
    if (is_stop(signo) && stopped_) ::kill(agent_, SIGCONT);
    const Duration limit = std::chrono::milliseconds(shared_state_.stand_still_ms);
    if (stood_.look(stopped_, 2 * kStopLook) > limit) ::kill(agent_, SIGKILL);
  }
  bool stopped() const { return stopped_; }

 private:
  pid_t agent_;
  const GuardianState& shared_state_;
  StandStill stood_;
  bool stopped_ = false;
};

// Until the agent, a child, has ended; its status.
int watch_from_above(pid_t agent, const GuardianState& shared_state) {
  const sigset_t awaited = awaited_signals();
  for (AgentWatch watch(agent, shared_state);;) {
    watch.woken(watch.stopped() ? ::sigtimedwait(&awaited, nullptr, &kStopLookSpec) : ::sigwaitinfo(&awaited, nullptr));
    std::optional<int> status;
    os::reap_children([&](pid_t pid, const ExitStatus& ended, const Usage&) {
      if (pid == agent) status = exit_code_of(ended);
    });
    if (status) return *status;
  }
}

int be_guardian(pid_t agent, const GuardianState& shared_state, std::optional<os::Cgroup>& cgroup) {
  // The launcher must see the end of the agent's output when the agent ends, not when we do.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
  const int status = watch_from_above(agent, shared_state);
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

Duration StandStill::look(bool stopped, Duration longest) {
  const TimePoint now = Clock::now();
  const std::optional<TimePoint> before = std::exchange(last_look_, stopped ? std::optional(now) : std::nullopt);
  stood_ = stopped && before ? stood_ + std::min<Duration>(now - *before, longest) : Duration::zero();
  return stood_;
}

SystemGuard::SystemGuard(GuardianState& shared_state, std::string mark, const ScratchFolder& scratch,
                         std::optional<os::Cgroup>& cgroup)
    : shared_state_(shared_state), mark_(std::move(mark)), scratch_(scratch), cgroup_(cgroup), pid_(::getppid()) {}

// A guardian above the agent removes the cgroup, which it cannot while the agent is in it.
SystemGuard::~SystemGuard() {
  const bool from_above = !is_below_ && !is_lost();
  if (is_below_ && ::kill(pid_, SIGKILL) == 0) ::waitpid(pid_, nullptr, 0);
  if (!cgroup_) return;
  if (from_above) {
    cgroup_->leave_to_others();
  } else {
    cgroup_->leave();
  }
}

void SystemGuard::allow(std::chrono::milliseconds stand_still) {
  shared_state_.stand_still_ms = static_cast<std::uint32_t>(stand_still.count());
}

void SystemGuard::look() {
  const std::chrono::milliseconds limit(shared_state_.stand_still_ms);
  const TimePoint now = Clock::now();
  if (looked_at_ && now - *looked_at_ < limit / 6) return;
  looked_at_ = now;
  if (stood_.look(os::is_stopped(pid_), limit / 4) > limit) ::kill(pid_, SIGKILL);
}

bool SystemGuard::is_lost() const { return !is_below_ && ::getppid() != pid_; }

Result<void> SystemGuard::replace() {
  // None may be missed, nor come to the loop that both have.
  sigset_t before;
  const sigset_t awaited = awaited_signals();
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  const pid_t agent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) watch_from_below(agent);
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return sys_error(ErrorKind::Io, "cannot make a process", error);
  pid_ = child;
  is_below_ = true;
  stood_ = StandStill();
  return {};
}

void SystemGuard::watch_from_below(pid_t agent) {
  ::prctl(PR_SET_NAME, kGuardianName);
  ::prctl(PR_SET_PDEATHSIG, kParentDied);
  const std::string group = os::Cgroup::current();
  if (cgroup_) {
    cgroup_->leave();
    cgroup_->leave_to_others();
  }
  os::close_from(0);  // what is the agent's ends with it
  const sigset_t awaited = awaited_signals();
  for (AgentWatch watch(agent, shared_state_); ::getppid() == agent;) {
    const int signo = ::sigtimedwait(&awaited, nullptr, watch.stopped() ? &kStopLookSpec : &kLookFromBelow);
    if (::getppid() == agent) watch.woken(signo);
  }
  end_leftovers({.mark = mark_, .cgroup = group, .scratch = scratch_.path()});
  ::_exit(0);
}

int guard(const std::string& mark, const std::function<int(Guard&, const ScratchFolder&)>& serve) {
  void* shared = ::mmap(nullptr, sizeof(GuardianState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  GuardianState& shared_state = *new (shared) GuardianState;
  os::become_subreaper();
  sigset_t before;
  const sigset_t awaited = awaited_signals();
  // No signal may be missed between fork and wait, nor end this process before it has cleaned up.
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  const ScratchFolder scratch = ScratchFolder::make();
  std::optional<os::Cgroup> cgroup = os::Cgroup::make();
  const pid_t guardian = ::getpid();
  ::prctl(PR_SET_NAME, kGuardianName);  // before the agent runs, which takes its own: it may be busy for long
  const pid_t agent = fork_agent(cgroup);
  if (agent < 0) return 1;
  if (agent != 0) return be_guardian(agent, shared_state, cgroup);

  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::prctl(PR_SET_PDEATHSIG, kParentDied);
  if (::getppid() != guardian) return 1;
  // A batch system that kills the process group of what it has started, as Grid Engine does, leaves one of the two.
  ::setpgid(0, 0);
  SystemGuard guard(shared_state, mark, scratch, cgroup);
  return serve(guard, scratch);
}

}  // namespace sml::agent
