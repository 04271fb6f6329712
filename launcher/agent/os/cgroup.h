// Control groups (cgroups(7)): the group of this process, and a new group below it for its descendants. Linux; agent
// only.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "common/os/fd.h"

namespace sml::os {

// Returns the group's path in one hierarchy, from the text of /proc/PID/cgroup; `controller`: a v1 controller, or ""
// for the v2 hierarchy. nullopt if that hierarchy is not listed.
std::optional<std::string> cgroup_path(std::string_view proc_cgroup, std::string_view controller);

// "/a/b" → "/a/b", "/a", "": a group and its ancestors, nearest first.
std::vector<std::string> with_ancestors(std::string_view path);

// A v2 group below the group of this process; the destructor removes it. kill() ends all processes of the group at
// once, even those that are being forked meanwhile and those in sessions of their own.
//
// Its name is unique, unlike process ids, which repeat where several PID namespaces share one hierarchy. The group is
// locked (flock) while its creator or a child of fork_into() lives. make() removes sibling groups of sml-run that have
// neither a lock nor processes, which killed agents leave behind; it kills nothing, and leaves groups with other names
// alone.
class Cgroup {
 public:
  // Returns nullopt if the system has no v2 hierarchy or this process may not write there (a container, an ordinary
  // user): that is usual, so callers must work without a group.
  static std::optional<Cgroup> make();
  // The folder of the sml-run group in which this process is; empty if it is in none.
  static std::string current();
  // Takes over a group that make() created and whose creators are dead; `path` is what current() returned in one of
  // them. Returns nullopt while one of them lives, or if the group is gone or not a group of sml-run.
  static std::optional<Cgroup> take_over(const std::string& path);
  // Whether the path is that of an existing sml-run group, whoever owns it.
  static bool exists(const std::string& path);

  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) = delete;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  // Removes the group and those below it. A group that still has processes stays; so in a child of fork_into() this
  // does nothing before leave().
  ~Cgroup();

  // Like fork(), with the child in the group from the start; returns -1 with errno on failure, and always before
  // Linux 5.7.
  pid_t fork_into();
  void leave();                                   // moves this process back to the parent group
  void leave_to_others() { directory_.reset(); }  // another owner removes the group; no other call after this
  // Sends SIGKILL to all processes of the group; does nothing on kernels before 5.14.
  void kill();
  bool populated() const;                // true if a process is in the group, or in one below it
  std::vector<pid_t> processes() const;  // without those of groups below it

 private:
  Cgroup(std::string above, std::string path, UniqueFd directory)
      : above_(std::move(above)), path_(std::move(path)), directory_(std::move(directory)) {}

  std::string above_;   // folder of the parent group
  std::string path_;    // folder of the group
  UniqueFd directory_;  // of path_; holds the lock
};

}  // namespace sml::os
