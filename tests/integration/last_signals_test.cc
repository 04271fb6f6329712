#include "launcher/os/last_signals.h"

#include <csignal>
#include <functional>
#include <string>

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace sml;

namespace {

// Whether this process learns the sender of a signal that `send` makes.
bool learns(os::LastSignals& signals, boost::asio::io_context& loop, const std::function<std::string()>& send) {
  const std::string sender = send();
  std::string learnt;
  signals.async_wait([&](boost::system::error_code, int, const std::string& who) { learnt = who; });
  loop.restart();
  loop.run();
  return learnt == sender;
}

std::string send_by_another() {
  const pid_t parent = ::getpid();
  const pid_t other = ::fork();
  if (other == 0) {
    ::kill(parent, SIGUSR1);
    ::_exit(0);
  }
  ::waitpid(other, nullptr, 0);
  return "process " + std::to_string(other);
}

std::string send_by_kernel() {
  const itimerval soon{.it_interval = {0, 0}, .it_value = {0, 1000}};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  return "the kernel";
}

}  // namespace

TEST_CASE("last signals: each comes with its sender") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    boost::asio::io_context loop(1);
    os::LastSignals signals(loop);
    for (const int signo : {SIGUSR1, SIGALRM}) signals.add(signo);
    const auto send_by_self = [] {
      ::kill(::getpid(), SIGUSR1);
      return "process " + std::to_string(::getpid());
    };
    const bool all = learns(signals, loop, send_by_self) && learns(signals, loop, send_by_another) &&
                     learns(signals, loop, send_by_kernel);
    ::_exit(all ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("last signals: one that comes when all is over does not take the place of the exit status") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    boost::asio::io_context loop(1);
    {
      os::LastSignals signals(loop);
      signals.add(SIGTERM);
      signals.add(SIGUSR1);
      ::raise(SIGTERM);
    }
    for (const int signo : {SIGTERM, SIGUSR1}) ::raise(signo);
    ::_exit(7);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("last signals: one that was let go ends the process") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    boost::asio::io_context loop(1);
    os::LastSignals signals(loop);
    signals.add(SIGTERM);
    signals.let_go();
    ::raise(SIGTERM);
    ::_exit(7);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}
