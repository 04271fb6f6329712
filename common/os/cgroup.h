// Control groups (cgroups(7)): where this process is, and a group of our own for what descends from it. Linux; agent
// only.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "common/os/fd.h"

namespace sml::os {

// The path of one hierarchy in the text of /proc/PID/cgroup: "" names v2's.
std::optional<std::string> cgroup_path(std::string_view proc_cgroup, std::string_view controller);

// "/a/b" → "/a/b", "/a", "": a group and those above it, nearest first.
std::vector<std::string> with_ancestors(std::string_view path);

// A v2 group below our own, gone with this object. All that is started in it can be killed at once, whatever it forks
// meanwhile and whatever session it made.
class Cgroup {
 public:
  // Nothing where the system has no v2 hierarchy, or does not let us write there (a container, an ordinary user): that
  // is usual, and everything else must do without.
  static std::optional<Cgroup> make();

  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) = delete;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  ~Cgroup();  // removes the group and those below it; one that still has processes stays

  // fork(), with the child in the group from its first moment; -1 where the kernel cannot (before 5.7).
  pid_t fork_into();
  void disown();  // for a forked child: the group is not removed with this object
  // SIGKILL to all of it; kernels before 5.14 cannot, and then nothing happens.
  void kill();
  bool populated() const;

 private:
  Cgroup(std::string path, UniqueFd directory) : path_(std::move(path)), directory_(std::move(directory)) {}

  std::string path_;
  UniqueFd directory_;
};

}  // namespace sml::os
