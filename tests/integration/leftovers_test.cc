#include "launcher/agent/leftovers.h"

#include <csignal>
#include <ctime>
#include <optional>
#include <string>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/os/cgroup.h"
#include "common/os/fd.h"
#include "launcher/agent/guardian.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"

using namespace sml;
using fake::Init;

namespace {

constexpr const char* kMark = "leftovers-test";
constexpr const char* kMarkEntry = "SML_MARK=leftovers-test";
constexpr timespec kDying{.tv_sec = 0, .tv_nsec = 150'000'000};

enum class Holds { Group, Nothing };

// A process of that name with a child, as a job's keeper has; in a group of its own where it holds one. It lives for a
// little longer, and leaves child and group behind.
class Dying {
 public:
  Dying(const char* name, Holds holds) {
    auto pipe = os::make_pipe();
    REQUIRE(pipe.has_value());
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) live(name, holds, pipe->write.get());
    pipe->write.reset();
    const std::string line = fake::read_line(pipe->read.get());
    child_ = static_cast<pid_t>(std::stol(line));
    group_ = line.substr(line.find(' ') + 1);
  }
  pid_t pid() const { return pid_; }
  pid_t child() const { return child_; }
  const std::string& group() const { return group_; }

 private:
  [[noreturn]] static void live(const char* name, Holds holds, int told) {
    ::prctl(PR_SET_NAME, name);
    const auto made = [holds] { return holds == Holds::Group ? os::Cgroup::make() : std::nullopt; };
    std::optional<os::Cgroup> group = made();
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

bool is_there(const std::string& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0;
}

}  // namespace

TEST_CASE("leftovers: those above the agent are waited for until they have died, and what they looked after is ended") {
  Init init;
  const bool as_keeper = GENERATE(true, false);
  const Dying dying(as_keeper ? agent::kKeeperName : agent::kGuardianName, Holds::Nothing);
  wire::EndLeft job{.mark = kMark, .cgroup = {}, .scratch = {}};
  (as_keeper ? job.pids.keeper : job.pids.guardian) = dying.pid();
  CHECK(ended_by_looking(job) == 1);
  CHECK_FALSE(fake::runs(dying.child()));
  CHECK(init.nothing_left());
}

TEST_CASE("leftovers: a group that somebody holds who is dying is ended and removed when they are dead") {
  Init init;
  const Dying dying("worker", Holds::Group);
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
  const pid_t zombie = ::fork();
  REQUIRE(zombie >= 0);
  if (zombie == 0) {
    ::prctl(PR_SET_NAME, agent::kKeeperName);
    ::_exit(0);
  }
  REQUIRE(fake::eventually([&] { return fake::state_of(zombie) == "Z"; }));
  const TimePoint begin = Clock::now();
  CHECK(ended_by_looking({.mark = kMark, .pids = {.keeper = zombie}, .cgroup = {}, .scratch = {}}) == 0);
  CHECK(Clock::now() - begin < std::chrono::seconds(2));  // the patience with one that lives
  CHECK(init.nothing_left());
}
