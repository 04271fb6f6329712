#include "launcher/agent/os/cgroup.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"

using namespace sml;
using fake::Init;

namespace {

std::string path_of(pid_t pid) {
  return os::cgroup_path(fake::read_file("/proc/" + std::to_string(pid) + "/cgroup"), "").value_or("");
}

// Where nobody may make one there is nothing to test; root always may, on hosts that have the v2 hierarchy.
bool none_to_be_had(const std::optional<os::Cgroup>& group) {
  const std::string below = path_of(::getpid()) + "/cgroup.procs";
  const bool writable = ::access(("/sys/fs/cgroup" + below).c_str(), W_OK) == 0 ||
                        ::access(("/sys/fs/cgroup/unified" + below).c_str(), W_OK) == 0;
  CHECK(group.has_value() == writable);
  return !group;
}

std::vector<std::string> groups_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) out.push_back(entry.path().filename());
  }
  return out;
}

// A process within a group that makes one of its own there, and waits.
class Maker {
 public:
  explicit Maker(os::Cgroup& around) {
    auto pipe = os::make_pipe();
    REQUIRE(pipe.has_value());
    pid_ = around.fork_into();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      const std::optional<os::Cgroup> group = os::Cgroup::make();
      if (group) os::write_all(pipe->write.get(), "made\n");
      for (;;) ::pause();
    }
    REQUIRE(fake::read_line(pipe->read.get()) == "made");
  }
  pid_t pid() const { return pid_; }
  void kill() const {
    ::kill(pid_, SIGKILL);
    REQUIRE(::waitpid(pid_, nullptr, 0) == pid_);
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("a cgroup holds what is started in it, and is gone with its object") {
  Init init;
  const std::string outside = path_of(::getpid());
  std::string inside;
  {
    std::optional<os::Cgroup> group = os::Cgroup::make();
    if (none_to_be_had(group)) return;
    CHECK_FALSE(group->populated());
    const pid_t child = group->fork_into();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::setsid();
      ::fork();
      for (;;) ::pause();
    }
    inside = path_of(child);
    CHECK(inside.starts_with((outside == "/" ? "" : outside) + "/sml-run-"));
    CHECK(path_of(::getpid()) == outside);
    CHECK(group->populated());
    group->kill();
    CHECK(fake::eventually([&] { return !group->populated(); }));
    CHECK(init.nothing_left());
  }
  struct stat info {};
  for (const std::string mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    CHECK(::stat((mount + inside).c_str(), &info) != 0);
  }
}

TEST_CASE("a forked child leaves the group to its maker, and removes it when it has gone back") {
  Init init;
  std::optional<os::Cgroup> group = os::Cgroup::make();
  if (none_to_be_had(group)) return;
  for (const bool goes_back : {false, true}) {
    const pid_t child = group->fork_into();
    if (child == 0) {
      if (goes_back) group->leave();
      group.reset();
      ::_exit(0);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    const pid_t next = group->fork_into();
    if (next == 0) ::_exit(0);
    CHECK((next < 0) == goes_back);
  }
}

TEST_CASE("groups whose makers were killed are removed by the next maker, and no others") {
  Init init;
  std::optional<os::Cgroup> around = os::Cgroup::make();  // nobody else makes any in there
  if (none_to_be_had(around)) return;
  const Maker first(*around);
  const std::string place = fake::cgroup_folder(first.pid());
  const std::vector<std::string> one = groups_in(place);
  REQUIRE(one.size() == 1);
  REQUIRE(::mkdir((place + "/" + one[0] + "/inner").c_str(), 0755) == 0);
  REQUIRE(::mkdir((place + "/sml-run-other").c_str(), 0755) == 0);
  const Maker second(*around);
  CHECK(groups_in(place).size() == 3);  // the first lives
  first.kill();
  const Maker third(*around);
  const std::vector<std::string> now = groups_in(place);
  CHECK(now.size() == 3);
  CHECK(std::count(now.begin(), now.end(), one[0]) == 0);
  CHECK(std::count(now.begin(), now.end(), "sml-run-other") == 1);
  second.kill();
  third.kill();
}

TEST_CASE("paths of cgroups") {
  const char* text = "9:name=systemd:/user\n4:cpu,memory:/a b/c\n0::/x/y\n";
  CHECK(os::cgroup_path(text, "") == "/x/y");
  CHECK(os::cgroup_path(text, "memory") == "/a b/c");
  CHECK(os::cgroup_path(text, "mem") == std::nullopt);
  CHECK(os::cgroup_path("garbage\n::\n", "cpu") == std::nullopt);
  CHECK(os::with_ancestors("/a/b") == std::vector<std::string>{"/a/b", "/a", ""});
  CHECK(os::with_ancestors("/") == std::vector<std::string>{""});
  CHECK(os::with_ancestors("") == std::vector<std::string>{""});
}
