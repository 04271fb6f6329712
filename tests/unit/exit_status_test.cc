#include "common/core/exit_status.h"

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "tests/support/catch.h"

using namespace sml;

TEST_CASE("an exit status becomes the code that a shell would show") {
  struct Row {
    ExitStatus status;
    int code;
  };
  const Row rows[] = {
      {Exited{0}, 0},
      {Exited{3}, 3},
      {Exited{42}, 42},
      {Exited{125}, 125},
      {Exited{255}, 255},
      {Signaled{SIGKILL, false}, 137},
      {Signaled{SIGTERM, false}, 143},
      {Signaled{SIGSEGV, true}, 139},
      {SpawnFailed{SpawnStep::Exec, ENOENT}, 127},
      {SpawnFailed{SpawnStep::Exec, ENOTDIR}, 127},
      {SpawnFailed{SpawnStep::Exec, EACCES}, 126},
      {SpawnFailed{SpawnStep::Exec, ENOEXEC}, 126},
      {SpawnFailed{SpawnStep::Directory, ENOENT}, 125},
      {SpawnFailed{SpawnStep::Fork, EAGAIN}, 125},
      {SpawnFailed{SpawnStep::Pipe, EMFILE}, 125},
      {SpawnFailed{SpawnStep::Limits, EPERM}, 125},
      {Lost{"connection reset"}, 125},
  };
  for (const Row& row : rows) {
    CAPTURE(describe(row.status));
    CHECK(exit_code_of(row.status) == row.code);
  }
}

TEST_CASE("only a clean exit is a success") {
  CHECK(succeeded(Exited{0}));
  CHECK_FALSE(succeeded(Exited{1}));
  CHECK_FALSE(succeeded(Signaled{SIGTERM, false}));
  CHECK_FALSE(succeeded(SpawnFailed{SpawnStep::Exec, 0}));
  CHECK_FALSE(succeeded(Lost{}));
}

TEST_CASE("an exit status is told in words") {
  CHECK(describe(Exited{3}) == "exited with status 3");
  CHECK(describe(Signaled{SIGSEGV, true}) == "was killed by SIGSEGV (segmentation fault), core dumped");
  CHECK(describe(Signaled{SIGKILL, false}) == "was killed by SIGKILL (killed)");
  CHECK(describe(SpawnFailed{SpawnStep::Exec, ENOENT}).find("no such file or directory") != std::string::npos);
  CHECK(describe(SpawnFailed{SpawnStep::Directory, ENOENT}).find("working directory") != std::string::npos);
  CHECK(describe(Lost{"connection reset"}) == "lost: connection reset");
}

TEST_CASE("signals have their usual names") {
  CHECK(signal_name(SIGTERM) == "SIGTERM");
  CHECK(signal_name(SIGUSR1) == "SIGUSR1");
  CHECK(signal_name(42) == "signal 42");
}

TEST_CASE("each signal that ends a process is told by name and by a status of its own") {
  const std::pair<int, std::string> rows[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},       {SIGQUIT, "SIGQUIT"},     {SIGILL, "SIGILL"},
      {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},     {SIGBUS, "SIGBUS"},       {SIGFPE, "SIGFPE"},
      {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},     {SIGSEGV, "SIGSEGV"},     {SIGUSR2, "SIGUSR2"},
      {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},     {SIGTERM, "SIGTERM"},     {SIGXCPU, "SIGXCPU"},
      {SIGXFSZ, "SIGXFSZ"}, {SIGPROF, "SIGPROF"},     {SIGVTALRM, "SIGVTALRM"}, {SIGPOLL, "SIGPOLL"},
      {SIGPWR, "SIGPWR"},   {SIGSTKFLT, "SIGSTKFLT"}, {SIGSYS, "SIGSYS"},       {34, "signal 34"},
      {64, "signal 64"},
  };
  for (const auto& [signo, name] : rows) {
    CAPTURE(signo);
    CHECK(exit_code_of(Signaled{signo, false}) == 128 + signo);
    CHECK(describe(Signaled{signo, false}).starts_with("was killed by " + name));
  }
}

TEST_CASE("signals by name or number") {
  CHECK(signal_number("TERM") == SIGTERM);
  CHECK(signal_number("SIGUSR1") == SIGUSR1);
  CHECK(signal_number("9") == SIGKILL);
  for (const char* none : {"", "SIG", "0", "-1", "99", "TERMX", "term", "9 "}) {
    CAPTURE(none);
    CHECK(signal_number(none) == std::nullopt);
  }
}
