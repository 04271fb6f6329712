// The command of --health-check, with the processes that it leaves behind.
#include <charconv>
#include <optional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "common/core/exit_status.h"
#include "launcher/agent/diagnosis/health_check.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"

using namespace sml;

namespace {

// Reaps the command when it has ended, and nothing that it has left behind.
void reap(agent::HealthCheck& check) {
  siginfo_t ended{};
  if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
  const pid_t pid = ended.si_pid;
  if (::getpgid(pid) != pid) return;
  int status = 0;
  ::waitpid(pid, &status, 0);
  check.ended(pid, Exited{WEXITSTATUS(status)});
}

}  // namespace

TEST_CASE("health check: what its command has left behind is its own until it is gone") {
  fake::Init init;
  boost::asio::io_context loop;
  std::optional<wire::Health> told;
  agent::HealthCheck check(loop, [&](wire::Health answer) { told = std::move(answer); });
  CHECK_FALSE(check.is(2'000'000'000));  // no process has that number
  check.begin({.command = "sleep 600 & echo $!; exit 3", .limit_ms = 3'600'000}, {}, {"PATH=/usr/bin:/bin"}, "/");
  const bool answered = fake::eventually([&] {
    loop.restart();
    loop.poll();
    reap(check);
    return told.has_value();
  });
  REQUIRE(answered);
  REQUIRE(told->problems.size() == 1);
  const std::string& words = told->problems.front();
  const std::size_t digits = words.find_last_not_of("0123456789") + 1;
  pid_t left = -1;
  std::from_chars(words.data() + digits, words.data() + words.size(), left);
  INFO(words);
  REQUIRE(left > 0);
  CHECK(check.is(left));
  CHECK(::waitpid(left, nullptr, 0) == left);  // it has been killed
  CHECK_FALSE(check.is(left));
}
