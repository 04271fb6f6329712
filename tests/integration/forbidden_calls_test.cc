// What containers with an old seccomp profile forbid: every system call that their profile does not know, with EPERM.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "launcher/agent/os/marked_processes.h"
#include "tests/support/catch.h"

using namespace sml;

namespace {

constexpr unsigned kFirstSince2019 = 424;  // pidfd_send_signal, on all processors

bool forbid_newer_calls() {
  std::array<sock_filter, 4> rows{{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                   {BPF_JMP | BPF_JGE | BPF_K, 0, 1, kFirstSince2019},
                                   {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
                                   {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
  const sock_fprog program{.len = rows.size(), .filter = rows.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// In a process of its own.
bool holds_where_they_are_forbidden(const std::function<bool()>& condition) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) ::_exit(forbid_newer_calls() && condition() ? 0 : 1);
  int status = -1;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return status == 0;
}

}  // namespace

TEST_CASE("a process is killed where handles of processes are forbidden, a later one with its pid is not") {
  const auto victim = os::spawn_helper({.argv = {"/bin/sleep", "600"},
                                        .stdin_fd = STDIN_FILENO,
                                        .stdout_fd = STDOUT_FILENO,
                                        .stderr_fd = STDERR_FILENO});
  REQUIRE(victim.has_value());
  os::SeenProcess seen;
  for (const os::SeenProcess& one : os::look_at_processes("NAME=of-none")) {
    if (one.pid == *victim) seen = one;
  }
  REQUIRE(seen.pid == *victim);
  os::SeenProcess before = seen;
  --before.started;
  CHECK_FALSE(holds_where_they_are_forbidden([&] { return os::kill_process(before); }));
  CHECK(::waitpid(*victim, nullptr, WNOHANG) == 0);
  CHECK(holds_where_they_are_forbidden([&] { return os::kill_process(seen); }));
  int status = 0;
  REQUIRE(::waitpid(*victim, &status, 0) == *victim);
  CHECK(WTERMSIG(status) == SIGKILL);
  CHECK_FALSE(os::kill_process(seen));
}

TEST_CASE("descriptors are closed from a number on where close_range is forbidden") {
  CHECK(holds_where_they_are_forbidden([] {
    const rlimit few{.rlim_cur = 300, .rlim_max = 300};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return false;
    if (::dup2(STDOUT_FILENO, 100) != 100 || ::dup2(STDOUT_FILENO, 101) != 101 || ::dup2(STDOUT_FILENO, 299) != 299)
      return false;
    os::close_from(101);
    return ::fcntl(100, F_GETFD) >= 0 && ::fcntl(101, F_GETFD) < 0 && ::fcntl(299, F_GETFD) < 0;
  }));
}
