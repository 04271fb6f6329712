#include "launcher/agent/core/leftovers.h"

#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "launcher/agent/core/scratch_folder.h"
#include "launcher/agent/os/cgroup.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"

using namespace sml;
using fake::Init;

namespace {

const std::string kMark = "leftovers-test";
constexpr const char* kMarkEntry = "SML_MARK=leftovers-test";
constexpr timespec kDying{.tv_sec = 0, .tv_nsec = 150'000'000};

// A process with a child in a group of its own, where it can have one. It lives for a little longer, and leaves child
// and group behind.
class Dying {
 public:
  Dying() {
    auto pipe = os::make_pipe();
    REQUIRE(pipe.has_value());
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) live(pipe->write.get());
    pipe->write.reset();
    const std::string line = fake::read_line(pipe->read.get());
    child_ = static_cast<pid_t>(std::stol(line));
    group_ = line.substr(line.find(' ') + 1);
  }
  pid_t pid() const { return pid_; }
  pid_t child() const { return child_; }
  const std::string& group() const { return group_; }

 private:
  [[noreturn]] static void live(int told) {
    std::optional<os::Cgroup> group = os::Cgroup::make();
    const pid_t child = group ? group->fork_into() : ::fork();
    if (child == 0) {
      ::close(told);
      const char* const environment[] = {kMarkEntry, nullptr};
      ::execle("/bin/sleep", "sleep", "600", nullptr, environment);
      ::_exit(1);
    }
    const std::string folder = group ? fake::cgroup_folder(child) : "";
    os::write_all(told, std::to_string(child) + " " + folder + "\n");
    ::nanosleep(&kDying, nullptr);
    ::_exit(0);  // and nothing is tidied up
  }

  pid_t pid_ = -1;
  pid_t child_ = -1;
  std::string group_;
};

// By another process, as those above the one that looks are who orphans go to.
std::uint32_t ended_by_looking(const wire::EndLeft& job) {
  const pid_t looker = ::fork();
  REQUIRE(looker >= 0);
  if (looker == 0) ::_exit(static_cast<int>(agent::end_leftovers(job).ended));
  int status = -1;
  REQUIRE(::waitpid(looker, &status, 0) == looker);
  REQUIRE(WIFEXITED(status));
  return static_cast<std::uint32_t>(WEXITSTATUS(status));
}

// How often children that have ended, and were waited for, went to sleep.
long sleeps_of_children() {
  rusage use{};
  ::getrusage(RUSAGE_CHILDREN, &use);
  return use.ru_nvcsw;
}

bool is_there(const std::string& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0;
}

}  // namespace

TEST_CASE("leftovers: a guardian is waited for until it has died, or stands still, and what it looked after is ended") {
  Init init;
  auto pipe = os::make_pipe();
  REQUIRE(pipe.has_value());
  const auto guardian =
      os::spawn_helper({.argv = {"/bin/sh", "-c", "SML_MARK=" + kMark + " sleep 600 > /dev/null & echo $!; sleep 0.15",
                                 "sh", "--mark", kMark},
                        .stdin_fd = pipe->read.get(),
                        .stdout_fd = pipe->write.get(),
                        .stderr_fd = STDERR_FILENO});
  REQUIRE(guardian.has_value());
  const auto child = static_cast<pid_t>(std::stol(fake::read_line(pipe->read.get())));
  if (GENERATE(true, false)) ::kill(*guardian, SIGSTOP);
  CHECK(ended_by_looking({.mark = kMark, .cgroup = {}, .scratch = {}}) == 1);
  CHECK_FALSE(fake::runs(child));
  CHECK(init.nothing_left());
}

TEST_CASE("leftovers: a group that somebody holds who is dying is ended and removed when they are dead") {
  Init init;
  const Dying dying;
  if (dying.group().empty()) {  // this user can have none
    CHECK(::access((fake::cgroup_folder(::getpid()) + "/cgroup.procs").c_str(), W_OK) != 0);
    return;
  }
  CHECK(ended_by_looking({.mark = "another", .cgroup = dying.group(), .scratch = {}}) == 1);
  CHECK_FALSE(fake::runs(dying.child()));
  CHECK_FALSE(is_there(dying.group()));
  CHECK(init.nothing_left());
}

TEST_CASE("leftovers: nobody waits for a process that waits for its parent only") {
  Init init;
  const auto zombie = os::spawn_helper({.argv = {"/bin/sh", "-c", "true; exit", "sh", "--mark", kMark},
                                        .stdin_fd = STDIN_FILENO,
                                        .stdout_fd = STDOUT_FILENO,
                                        .stderr_fd = STDERR_FILENO});
  REQUIRE(zombie.has_value());
  REQUIRE(fake::eventually([&] { return fake::state_of(*zombie) == "Z"; }));
  const long before = sleeps_of_children();
  CHECK(ended_by_looking({.mark = kMark, .cgroup = {}, .scratch = {}}) == 0);
  CHECK(sleeps_of_children() - before < 30);  // who waits looks every 10 ms for 2 s
  CHECK(init.nothing_left());
}

TEST_CASE("a scratch folder whose processes were all killed at once is removed by the next start, one in use is kept") {
  auto pipe = os::make_pipe();
  REQUIRE(pipe.has_value());
  const pid_t agent = ::fork();
  REQUIRE(agent >= 0);
  if (agent == 0) {
    const agent::ScratchFolder folder = agent::ScratchFolder::make();
    std::filesystem::create_directory(folder.path() + "/of-a-worker");
    std::ofstream(folder.path() + "/of-a-worker/file") << "text";
    os::write_all(pipe->write.get(), folder.path() + "\n");
    for (;;) ::pause();
  }
  const std::string path = fake::read_line(pipe->read.get());
  REQUIRE(std::filesystem::exists(path + "/of-a-worker/file"));
  const std::string of_another_boot = path.substr(0, path.rfind('/')) + "/sml-run-00000000-aaaaaa";
  std::filesystem::create_directory(of_another_boot);

  const agent::ScratchFolder meanwhile = agent::ScratchFolder::make();
  CHECK(std::filesystem::exists(path + "/of-a-worker/file"));
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  const agent::ScratchFolder next = agent::ScratchFolder::make();
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(std::filesystem::exists(meanwhile.path()));
  CHECK(std::filesystem::exists(of_another_boot));
  std::filesystem::remove(of_another_boot);
}
