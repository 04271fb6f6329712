#include "common/core/error.h"

#include <cerrno>
#include <set>

#include "common/core/input_error.h"
#include "tests/support/catch.h"

using namespace sml;

TEST_CASE("each kind of error has a name and the exit code of the contract") {
  struct Row {
    ErrorKind kind;
    const char* name;
    int exit_code;
  };
  const Row rows[] = {
      {ErrorKind::Usage, "usage", 2},          {ErrorKind::Config, "config", 2},
      {ErrorKind::Resolve, "resolve", 125},    {ErrorKind::Connect, "connect", 125},
      {ErrorKind::HostKey, "host-key", 125},   {ErrorKind::Auth, "auth", 125},
      {ErrorKind::Deploy, "deploy", 125},      {ErrorKind::Protocol, "protocol", 125},
      {ErrorKind::Spawn, "spawn", 125},        {ErrorKind::NotExecutable, "not-executable", 126},
      {ErrorKind::NotFound, "not-found", 127}, {ErrorKind::Io, "io", 125},
      {ErrorKind::Timeout, "timeout", 125},    {ErrorKind::Lost, "lost", 125},
      {ErrorKind::Internal, "internal", 125},
  };
  for (const Row& row : rows) {
    CHECK(name(row.kind) == row.name);
    CHECK(exit_code_of(row.kind) == row.exit_code);
  }
  CHECK(std::size(rows) == static_cast<std::size_t>(ErrorKind::Internal) + 1);
}

TEST_CASE("an error carries message, context and hint") {
  const Error error = Error(ErrorKind::Auth, "permission denied").in("log-in").in("ssh").with_hint("check the key");
  CHECK(error.kind() == ErrorKind::Auth);
  CHECK(error.message() == "ssh: log-in: permission denied");
  CHECK(error.hint() == "check the key");
  CHECK(error == Error(error));
  CHECK_FALSE(error == Error(ErrorKind::Auth, "ssh: log-in: permission denied"));
  CHECK(Error().kind() == ErrorKind::Internal);
}

TEST_CASE("a result holds a value or an error") {
  const Result<int> value = 3;
  const Result<int> failure = Error(ErrorKind::Io, "x");
  CHECK(value.has_value());
  CHECK(*value == 3);
  CHECK(failure.has_error());
  CHECK(failure.error().message() == "x");
}

TEST_CASE("errno reads as a clause in lower case") {
  CHECK(errno_text(EACCES) == "permission denied");
  CHECK(errno_text(ENOENT) == "no such file or directory");
  CHECK(errno_text(123456) == "error 123456");
  CHECK(sys_error(ErrorKind::Io, "cannot write the log", ENOSPC).message() ==
        "cannot write the log: no space left on device");
}

TEST_CASE("the text of an error about what the user gave is formatted only if values follow") {
  CHECK(usage_error("\"{}\" is not {}", "x", 2).message() == "\"x\" is not 2");
  CHECK(usage_error("write {{ for a {").message() == "write {{ for a {");
  CHECK(config_error("{}: {}", std::string("R"), "names no host").message() == "R: names no host");
  CHECK(usage_error("x").kind() == ErrorKind::Usage);
  CHECK(config_error("{}", 1).kind() == ErrorKind::Config);
}
