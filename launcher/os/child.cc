#include "launcher/os/child.h"

#include <chrono>
#include <csignal>
#include <ctime>
#include <utility>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace sml::os {

namespace {

// SIGTERM lets the child clean up (an agent ends its workers, ssh restores the terminal settings); SIGKILL goes to its
// process group, of which spawn_helper() made it the leader.
void end_and_reap(pid_t pid) {
  constexpr timespec kLookAgain{.tv_sec = 0, .tv_nsec = 2'000'000};
  ::kill(pid, SIGTERM);
  for (int i = 0; i < 1000; ++i) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0) break;
    ::nanosleep(&kLookAgain, nullptr);
  }
  ::kill(-pid, SIGKILL);  // not reaped yet, so the group's id is not reused
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

// Its end makes a descriptor readable (pidfd_open(2)); where the system has none for us we look from time to time.
struct Child::State : std::enable_shared_from_this<State> {
  State(const boost::asio::any_io_executor& executor, pid_t the_pid, std::function<void(ExitStatus)> the_end)
      : handle(executor), timer(executor), pid(the_pid), ended(std::move(the_end)) {
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
    if (fd >= 0) handle.assign(fd);
  }

  void watch() {
    constexpr auto kLookAgain = std::chrono::milliseconds(10);
    const auto look = [weak = weak_from_this()](boost::system::error_code error) {
      const std::shared_ptr<State> state = weak.lock();
      if (state && !error) state->look();
    };
    if (handle.is_open()) return handle.async_wait(boost::asio::posix::stream_descriptor::wait_read, look);
    timer.expires_after(kLookAgain);
    timer.async_wait(look);
  }

  void look() {
    int raw = 0;
    if (::waitpid(pid, &raw, WNOHANG) != pid) return watch();
    reaped = true;
    ended(WIFSIGNALED(raw) ? ExitStatus(Signaled{WTERMSIG(raw), false}) : ExitStatus(Exited{WEXITSTATUS(raw)}));
  }

  boost::asio::posix::stream_descriptor handle;
  boost::asio::steady_timer timer;
  pid_t pid;
  std::function<void(ExitStatus)> ended;
  bool reaped = false;
};

Child::Child(boost::asio::any_io_executor executor, pid_t pid, std::function<void(ExitStatus)> ended)
    : state_(std::make_shared<State>(executor, pid, std::move(ended))) {
  state_->watch();
}

Child::~Child() {
  if (!state_->reaped) end_and_reap(state_->pid);
}

pid_t Child::pid() const { return state_->pid; }

}  // namespace sml::os
