#include "common/os/logs/log_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "common/os/fd.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"

using namespace sml;
using os::LogFiles;
using os::LogWriter;

namespace {

struct Stage {
  explicit Stage(std::vector<std::string> paths)
      : writer(loop.get_executor(), LogFiles({.max_size = 0, .overwrite = os::Overwrite::Yes}, std::move(paths)),
               {.failed = [this](const Error& why) { faults.push_back(why.message()); },
                .caught_up = [this] { ++caught_up; }}) {
    writer.create([this] { made = true; });
  }
  template <class Condition>
  void turn_until(Condition condition) {
    while (!condition()) {
      loop.restart();
      loop.poll();
    }
  }
  void settle() {
    turn_until([this] { return made && writer.pending() == 0; });
  }
  boost::asio::io_context loop{1};
  bool made = false;
  int caught_up = 0;
  std::vector<std::string> faults;
  LogWriter writer;
};

std::string take(int fd) {
  char buffer[4096];
  const ssize_t n = ::read(fd, buffer, sizeof buffer);
  return {buffer, n > 0 ? static_cast<std::size_t>(n) : 0};
}

}  // namespace

TEST_CASE("log writer: each file gets its own bytes, in order", "[threads]") {
  fake::Init init;
  fake::ScratchFolder folder;
  Stage stage({folder / "a/one", "", folder / "two"});
  for (int i = 0; i < 1000; ++i) {
    stage.writer.write(0, "a" + std::to_string(i));
    stage.writer.write(1, "nowhere");
    stage.writer.write(2, "b" + std::to_string(i));
  }
  stage.writer.add({folder / "three"});
  CHECK(stage.writer.count() == 4);
  stage.writer.write(3, "late");
  stage.settle();
  std::string a;
  std::string b;
  for (int i = 0; i < 1000; ++i) {
    a += "a" + std::to_string(i);
    b += "b" + std::to_string(i);
  }
  CHECK(fake::read_file(folder / "a/one") == a);
  CHECK(fake::read_file(folder / "two") == b);
  CHECK(fake::read_file(folder / "three") == "late");
  CHECK(stage.caught_up > 0);
  CHECK(stage.faults.empty());
}

TEST_CASE("log writer: a file that takes nothing blocks nobody, and tells how much waits for it", "[threads]") {
  fake::Init init;
  fake::ScratchFolder folder;
  const std::string path = folder / "slow";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  os::UniqueFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  Stage stage({path});
  stage.turn_until([&] { return stage.made; });
  const std::string text(1'000'000, 'x');
  stage.writer.write(0, text);
  stage.writer.write(0, "end");
  stage.writer.flush(std::chrono::milliseconds(1));
  CHECK(stage.writer.pending() == text.size() + 3);
  CHECK(stage.caught_up == 1);  // with making it
  std::string got;
  stage.turn_until([&] {
    got += take(reader.get());
    return stage.writer.pending() == 0 && got.size() == text.size() + 3;
  });
  CHECK((got == text + "end"));
}

TEST_CASE("log writer: each file that cannot be written is told once", "[threads]") {
  fake::Init init;
  fake::ScratchFolder folder;
  Stage stage({"/dev/full", folder / "one"});
  stage.writer.write(0, "x");
  stage.writer.write(1, "y");
  stage.writer.write(0, "x");
  stage.settle();
  REQUIRE(stage.faults.size() == 1);
  CHECK(stage.faults[0] == "cannot write /dev/full: no space left on device");
  CHECK(fake::read_file(folder / "one") == "y");
}

TEST_CASE("log writer: what is pending at its end is written, and nobody is called", "[threads]") {
  fake::Init init;
  fake::ScratchFolder folder;
  const std::string path = folder / "one";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  os::UniqueFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const std::string text(300'000, 'x');
  boost::asio::io_context loop{1};
  bool called = false;
  {
    LogWriter writer(loop.get_executor(), LogFiles({.max_size = 0, .overwrite = os::Overwrite::Yes}, {path}),
                     {.failed = [&](const Error&) { called = true; }, .caught_up = [&] { called = true; }});
    writer.create([&] { called = true; });
    writer.write(0, text);
    writer.write(0, "end");
  }
  std::string got;
  while (got.size() < text.size() + 3) got += take(reader.get());
  loop.run();
  CHECK((got == text + "end"));
  CHECK_FALSE(called);
}
