#include "launcher/agent/os/output_terminal.h"

#include <cerrno>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace sml;

namespace {

os::Pipe terminal() {
  Result<os::Pipe> made = os::make_output_terminal();
  REQUIRE(made.has_value());
  return std::move(*made);
}

std::string read_all(int fd) {
  std::string out;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0) CHECK(errno == EIO);
    if (n <= 0) return out;
    out.append(buffer, static_cast<std::size_t>(n));
  }
}

// A child that writes `bytes`, has nothing else open, and leaves; 0: it wrote all of them.
int exit_of_writer(os::Pipe& ends, const std::string& bytes, std::string& got) {
  const pid_t child = ::fork();
  if (child == 0) {
    ends.read.reset();
    ::setsid();
    ::_exit(os::write_all(ends.write.get(), bytes) ? 0 : 1);
  }
  ends.write.reset();
  got = read_all(ends.read.get());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("what is written to an output terminal comes as it is, and all of it after the writer's death") {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);  // line ends, and the keys of a terminal among them
  }
  os::Pipe ends = terminal();
  CHECK(::isatty(ends.write.get()) == 1);
  std::string got;
  CHECK(exit_of_writer(ends, bytes, got) == 0);
  CHECK(got == bytes);
}

TEST_CASE("what was written last is there however soon its writer has ended") {
  for (int i = 0; i < 200; ++i) {
    os::Pipe ends = terminal();
    const std::string bytes(2000, 'x');
    std::string got;
    CHECK(exit_of_writer(ends, bytes, got) == 0);
    CHECK(got == bytes);
  }
}

TEST_CASE("who writes to an output terminal that nobody reads has to wait") {
  os::Pipe ends = terminal();
  os::set_nonblocking(ends.write.get());
  const std::string much(1 << 20, 'x');
  std::size_t taken = 0;
  ssize_t n = 0;
  while ((n = ::write(ends.write.get(), much.data(), much.size())) > 0) taken += static_cast<std::size_t>(n);
  CHECK(errno == EAGAIN);
  CHECK(taken < much.size());
}

TEST_CASE("an output terminal is closed to other users") {
  const os::Pipe ends = terminal();
  struct stat about {};
  REQUIRE(::fstat(ends.write.get(), &about) == 0);
  CHECK((about.st_mode & 077) == 0);
}

TEST_CASE("whoever leads a session does not get an output terminal as its own, and no signal when it goes") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    Result<os::Pipe> ends = os::make_output_terminal();
    if (!ends || ::open("/dev/tty", O_RDWR | O_CLOEXEC) >= 0) ::_exit(2);
    ends->read.reset();
    ::_exit(::write(ends->write.get(), "x", 1) < 0 && errno == EIO ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
