#include "launcher/os/leash.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

#include <unistd.h>

#include "common/os/spawn.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"

using namespace sml;
using fake::Init;

namespace {

// A shell whose standard input has ended, which is held, and a process below it; the number of that one.
struct Held {
  explicit Held(int told) {
    Result<os::Leash> made = os::Leash::make();
    if (!made) ::_exit(1);
    leash.emplace(std::move(*made));
    const auto pid = os::spawn_helper({.argv = {"/bin/sh", "-c", "cat; sleep 600 & echo $!; wait"},
                                       .stdin_fd = leash->input(),
                                       .stdout_fd = told,
                                       .stderr_fd = STDERR_FILENO});
    if (!pid) ::_exit(1);
    leash->tie(*pid);
  }
  std::optional<os::Leash> leash;
};

pid_t told_by(const os::Pipe& pipe) { return static_cast<pid_t>(std::stol(fake::read_line(pipe.read.get()))); }

}  // namespace

TEST_CASE("leash: whoever is killed takes the group that it holds along") {
  Init init;
  auto pipe = os::make_pipe();
  REQUIRE(pipe.has_value());
  const pid_t holder = ::fork();
  REQUIRE(holder >= 0);
  if (holder == 0) {
    const Held held(pipe->write.get());
    for (;;) ::pause();
  }
  const pid_t below = told_by(*pipe);
  CHECK(fake::runs(below));
  ::kill(holder, SIGKILL);
  CHECK(init.nothing_left());
  CHECK_FALSE(fake::runs(below));
}

TEST_CASE("leash: what is let go outlives it, and what is not does not") {
  Init init;
  auto pipe = os::make_pipe();
  REQUIRE(pipe.has_value());
  std::optional<Held> held(pipe->write.get());
  const pid_t below = told_by(*pipe);
  const bool is_let_go = GENERATE(true, false);
  if (is_let_go) held->leash->untie();
  held.reset();
  if (!is_let_go) {
    CHECK(init.nothing_left());
    return;
  }
  CHECK_FALSE(fake::eventually([&] { return !fake::runs(below); }, std::chrono::milliseconds(200)));
}
