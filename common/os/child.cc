// Boost.Process 1.81 as it can be relied on: a pid that is ours, async_wait and the native exit code; never running(),
// terminate() or its launchers.
#include "common/os/child.h"

#include <csignal>
#include <ctime>

#include <sys/wait.h>

#include <boost/process/v2/process.hpp>

namespace sml::os {

struct Child::State {
  State(boost::asio::any_io_executor executor, pid_t the_pid, std::function<void(ExitStatus)> the_end)
      : process(std::move(executor), the_pid), pid(the_pid), ended(std::move(the_end)) {}

  boost::process::v2::process process;
  pid_t pid;
  std::function<void(ExitStatus)> ended;
  bool reaped = false;
};

Child::Child(boost::asio::any_io_executor executor, pid_t pid, std::function<void(ExitStatus)> ended)
    : state_(std::make_shared<State>(std::move(executor), pid, std::move(ended))) {
  state_->process.async_wait([weak = std::weak_ptr<State>(state_)](boost::system::error_code error, int) {
    const std::shared_ptr<State> state = weak.lock();
    if (!state || error == boost::asio::error::operation_aborted) return;
    state->reaped = true;
    const int raw = state->process.native_exit_code();
    state->ended(WIFSIGNALED(raw) ? ExitStatus(Signaled{WTERMSIG(raw), false}) : ExitStatus(Exited{WEXITSTATUS(raw)}));
  });
}

namespace {

// SIGTERM lets it clean up (an agent ends its workers, ssh restores what it changed); SIGKILL to its group, which
// spawn_helper() made it leader of, is the end.
void end_and_reap(pid_t pid) {
  constexpr timespec kLookAgain{.tv_sec = 0, .tv_nsec = 2'000'000};
  ::kill(pid, SIGTERM);
  for (int i = 0; i < 1000; ++i) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0) break;
    ::nanosleep(&kLookAgain, nullptr);
  }
  ::kill(-pid, SIGKILL);  // not reaped yet, so the group's number is still its own
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

Child::~Child() {
  if (!state_->reaped) end_and_reap(state_->pid);
  state_->process.detach();  // its destructor would kill and wait once more
}

pid_t Child::pid() const { return state_->pid; }

}  // namespace sml::os
