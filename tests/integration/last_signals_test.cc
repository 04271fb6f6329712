#include "launcher/os/last_signals.h"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace sml;

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
