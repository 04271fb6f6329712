#include "launcher/os/out_stream.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "common/os/fd.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"
#include "tests/support/skip.h"

using namespace sml;
using os::OutStream;

namespace {

// A stream with a loop and a record of the events that it reported.
struct Stage {
  explicit Stage(int fd)
      : stream(loop.get_executor(), fd,
               {.drained = [this] { ++drained; },
                .broken =
                    [this](int sys_errno) {
                      ++breaks;
                      error = sys_errno;
                    }}) {}
  void write(std::string bytes) {
    stream.write(bytes);
    CHECK(bytes.empty());
  }
  void turn() {
    loop.restart();
    loop.poll();
  }
  // What a thread writes comes when it does.
  void settle() {
    while (stream.pending() > 0) turn();
    turn();
  }
  boost::asio::io_context loop{1};
  int drained = 0;
  int breaks = 0;
  int error = 0;
  OutStream stream;
};

std::string pattern(std::size_t size) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<char>(i * 31 + i / 251));
  return out;
}

// Everything that is in there now.
std::string take(int fd) {
  os::set_nonblocking(fd);
  std::string out;
  char buffer[4096];
  for (ssize_t n = ::read(fd, buffer, sizeof buffer); n > 0; n = ::read(fd, buffer, sizeof buffer)) {
    out.append(buffer, static_cast<std::size_t>(n));
  }
  return out;
}

}  // namespace

TEST_CASE("out stream: an empty pipe takes it at once, and no handler is called") {
  fake::Init init;
  auto pipe = os::make_pipe();
  Stage stage(pipe->write.get());
  stage.write("one\n");
  stage.write("two\n");
  CHECK(stage.stream.pending() == 0);
  CHECK(take(pipe->read.get()) == "one\ntwo\n");
  stage.turn();
  CHECK(stage.drained == 0);
  CHECK(stage.breaks == 0);
}

TEST_CASE("out stream: a full pipe never blocks the loop, and nothing is lost or moved") {
  fake::Init init;
  const bool socket = GENERATE(false, true);
  CAPTURE(socket);
  os::UniqueFd reader;
  os::UniqueFd writer;
  if (socket) {
    auto pair = os::make_socketpair();
    reader = std::move((*pair)[0]);
    writer = std::move((*pair)[1]);
  } else {
    auto pipe = os::make_pipe();
    reader = std::move(pipe->read);
    writer = std::move(pipe->write);
  }
  Stage stage(writer.get());
  const std::string text = pattern(3'000'000);
  for (std::size_t at = 0; at < text.size(); at += 100'000) stage.write(text.substr(at, 100'000));
  CHECK(stage.stream.pending() > 0);
  stage.turn();
  CHECK(stage.drained == 0);
  std::string got;
  while (stage.stream.pending() > 0 || got.size() < text.size()) {
    got += take(reader.get());
    stage.turn();
  }
  CHECK((got == text));
  CHECK(stage.drained == 1);
  CHECK(stage.breaks == 0);
}

TEST_CASE("a pipe is made wider, and never narrower") {
  auto pipe = os::make_pipe();
  os::widen_pipe(pipe->write.get(), 256 << 10);
  CHECK(::fcntl(pipe->read.get(), F_GETPIPE_SZ) == 256 << 10);
  os::widen_pipe(pipe->write.get(), 4096);
  CHECK(::fcntl(pipe->read.get(), F_GETPIPE_SZ) == 256 << 10);
  auto pair = os::make_socketpair();
  os::widen_pipe((*pair)[0].get(), 256 << 10);  // has no effect
  os::widen_pipe(-1, 256 << 10);
}

TEST_CASE("out stream: those who share the descriptor do not see it become non-blocking") {
  fake::Init init;
  auto pipe = os::make_pipe();
  auto pair = os::make_socketpair();
  for (const int fd : {pipe->write.get(), (*pair)[0].get()}) {
    Stage stage(fd);
    stage.write(pattern(1'000'000));
    stage.turn();
    CHECK((::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
  }
}

TEST_CASE("out stream: a reader that has gone is told once, and later words are dropped") {
  fake::Init init;
  const bool socket = GENERATE(false, true);
  CAPTURE(socket);
  auto pipe = os::make_pipe();
  auto pair = os::make_socketpair();
  Stage stage(socket ? (*pair)[0].get() : pipe->write.get());
  pipe->read.reset();
  (*pair)[1].reset();
  stage.write("nobody reads this");
  CHECK(stage.breaks == 0);  // never from within
  CHECK(stage.stream.broken());
  CHECK(stage.stream.pending() == 0);
  stage.write("nor this");
  CHECK(stage.stream.pending() == 0);
  stage.turn();
  stage.turn();
  CHECK(stage.breaks == 1);
  CHECK(stage.error == EPIPE);
  stage.stream.flush(1000);
}

TEST_CASE("out stream: a reader that goes while we wait for it") {
  fake::Init init;
  auto pipe = os::make_pipe();
  Stage stage(pipe->write.get());
  stage.write(pattern(1'000'000));
  stage.turn();
  CHECK(stage.breaks == 0);
  pipe->read.reset();
  stage.turn();
  stage.turn();
  CHECK(stage.breaks == 1);
  CHECK(stage.error == EPIPE);
  CHECK(stage.stream.pending() == 0);
  CHECK(stage.drained == 0);
}

TEST_CASE("out stream: a regular file keeps its position and its flags") {
  fake::Init init;
  fake::ScratchFolder folder;
  const std::string path = folder.write("log", "before\n", 0644);
  SECTION("as > leaves it: behind what others wrote through the same description") {
    os::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(::lseek(file.get(), 0, SEEK_END) == 7);
    Stage stage(file.get());
    stage.write("ours\n");
    stage.settle();
    REQUIRE(os::write_all(file.get(), "theirs\n"));
    stage.write("ours again\n");
    stage.settle();
    CHECK(fake::read_file(path) == "before\nours\ntheirs\nours again\n");
  }
  SECTION("as >> leaves it") {
    os::UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    Stage stage(file.get());
    const std::string text = pattern(2'000'000);
    stage.write(text);
    CHECK(stage.stream.pending() > 0);
    stage.settle();
    CHECK(stage.drained == 1);
    CHECK((fake::read_file(path) == "before\n" + text));
  }
}

TEST_CASE("out stream: a regular file begins anew, and its last words are waited for") {
  fake::Init init;
  fake::ScratchFolder folder;
  const std::string path = folder.write("log", "");
  os::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  Stage stage(file.get());
  stage.write("forgotten\n");
  stage.write("so is this\n");
  stage.stream.empty();
  stage.write("one\n");
  stage.stream.flush(0);
  CHECK(fake::read_file(path) == "one\n");
  stage.settle();
}

TEST_CASE("out stream: a pipe of another user, which cannot be opened anew, never blocks the loop") {
  fake::Init init;
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  auto pipe = os::make_pipe();
  REQUIRE(::seteuid(65534) == 0);
  Stage stage(pipe->write.get());
  REQUIRE(::seteuid(0) == 0);
  const std::string text = pattern(3'000'000);
  for (std::size_t at = 0; at < text.size(); at += 100'000) stage.write(text.substr(at, 100'000));
  stage.turn();
  CHECK(stage.stream.pending() > 0);
  CHECK(stage.drained == 0);
  CHECK((::fcntl(pipe->write.get(), F_GETFL) & O_NONBLOCK) == 0);
  stage.stream.flush(1);  // nobody reads
  std::string got;
  while (stage.stream.pending() > 0 || got.size() < text.size()) {
    got += take(pipe->read.get());
    stage.turn();
  }
  CHECK((got == text));
  CHECK(stage.drained > 0);
  CHECK(stage.breaks == 0);
}

TEST_CASE("out stream: a full disk is told") {
  fake::Init init;
  os::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  REQUIRE(full);
  Stage stage(full.get());
  stage.write("x");
  stage.settle();
  CHECK(stage.breaks == 1);
  CHECK(stage.error == ENOSPC);
}

TEST_CASE("out stream: /dev/null and closed descriptors") {
  fake::Init init;
  auto null = os::open_dev_null();
  Stage stage(null->get());
  stage.write(pattern(1'000'000));
  stage.settle();
  CHECK(stage.breaks == 0);
  Stage closed(-1);
  closed.write("x");
  closed.settle();
  CHECK(closed.breaks == 1);
  CHECK(closed.error == EBADF);
}

TEST_CASE("out stream: last words wait for a slow reader, but not for ever") {
  fake::Init init;
  auto pipe = os::make_pipe();
  Stage stage(pipe->write.get());
  const std::string text = pattern(300'000);
  stage.write(text);
  const auto begin = std::chrono::steady_clock::now();
  stage.stream.flush(100);  // nobody reads
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(90));
  CHECK(stage.stream.pending() > 0);

  const pid_t reader = ::fork();
  if (reader == 0) {
    pipe->write.reset();
    ::_exit((fake::read_all(pipe->read.get()) == text) ? 0 : 1);
  }
  stage.stream.flush(3'600'000);
  CHECK(stage.stream.pending() == 0);
}

TEST_CASE("out stream: no handler is called after its end") {
  fake::Init init;
  boost::asio::io_context loop{1};
  auto pipe = os::make_pipe();
  auto dead = os::make_pipe();
  dead->read.reset();
  int calls = 0;
  const OutStream::Events events{.drained = [&] { ++calls; }, .broken = [&](int) { ++calls; }};
  {
    OutStream waiting(loop.get_executor(), pipe->write.get(), events);
    OutStream broken(loop.get_executor(), dead->write.get(), events);
    std::string bytes = pattern(1'000'000);
    waiting.write(bytes);
    bytes = "x";
    broken.write(bytes);
  }
  take(pipe->read.get());
  loop.run();
  CHECK(calls == 0);
}

TEST_CASE("two descriptors of one file are known as such") {
  fake::Init init;
  fake::ScratchFolder folder;
  const std::string path = folder.write("a", "");
  const std::string path_b = folder.write("b", "");
  os::UniqueFd a(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  os::UniqueFd again(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  os::UniqueFd b(::open(path_b.c_str(), O_WRONLY | O_CLOEXEC));
  auto one = os::make_pipe();
  auto two = os::make_pipe();
  os::UniqueFd copy(::dup(one->write.get()));
  CHECK(os::same_file(a.get(), again.get()));
  CHECK_FALSE(os::same_file(a.get(), b.get()));
  CHECK(os::same_file(one->write.get(), copy.get()));
  CHECK_FALSE(os::same_file(one->write.get(), two->write.get()));
  CHECK_FALSE(os::same_file(-1, -1));
}
