#include "launcher/transport/ssh/match_exec.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/spawn.h"

namespace sml::ssh {
namespace {

constexpr auto kFirstLook = std::chrono::milliseconds(1);
constexpr auto kRarestLook = std::chrono::milliseconds(50);

}  // namespace

Result<bool> command_holds(const std::string& shell, const std::string& line, TimePoint deadline,
                           net::CancelToken& cancel) {
  const auto named = [&](const std::string& what) {
    return Error(ErrorKind::Config, "Match exec \"" + show(line, 200) + "\" " + what);
  };
  const os::UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto pid = os::spawn_helper({.argv = {shell, "-c", line},
                                     .program_fd = -1,
                                     .stdin_fd = null.get(),
                                     .stdout_fd = null.get(),
                                     .stderr_fd = STDERR_FILENO});
  if (!pid) return named("cannot be run: " + pid.error().message());
  siginfo_t info{};
  {
    const net::KillOnCancel guard(cancel, *pid);
    for (Duration pause = kFirstLook; info.si_pid == 0; pause = std::min<Duration>(pause * 2, kRarestLook)) {
      const int looked = ::waitid(P_PID, static_cast<id_t>(*pid), &info, WEXITED | WNOHANG | WNOWAIT);
      if (looked != 0 || info.si_pid != 0 || Clock::now() >= deadline || cancel.cancelled()) break;
      static_cast<void>(net::wait_for(-1, 0, std::min(deadline, Clock::now() + pause), cancel));
    }
  }
  const bool in_time = info.si_pid != 0;
  if (!in_time) ::kill(-*pid, SIGKILL);  // not yet reaped, so the number is still its own
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return named("has not ended in time");
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace sml::ssh
