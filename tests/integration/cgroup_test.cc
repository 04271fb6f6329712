#include "common/os/cgroup.h"

#include <csignal>

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
    CHECK(inside == (outside == "/" ? "" : outside) + "/sml-run-" + std::to_string(::getpid()));
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

TEST_CASE("a forked child leaves the group to its maker") {
  Init init;
  std::optional<os::Cgroup> group = os::Cgroup::make();
  if (none_to_be_had(group)) return;
  const pid_t child = group->fork_into();
  if (child == 0) {
    group->disown();
    group.reset();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK_FALSE(group->populated());  // it is still there
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
