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
//
// Its name is new each time: process ids are not, where several PID namespaces share one hierarchy. A lock (flock) is
// on the group while its maker or a child of fork_into() lives. make() removes neighbours of ours that have neither
// lock nor processes, which those leave who are killed; it kills nothing, and other names are none of our business.
class Cgroup {
 public:
  // Nothing where the system has no v2 hierarchy, or does not let us write there (a container, an ordinary user): that
  // is usual, and everything else must do without.
  static std::optional<Cgroup> make();
  // The folder of the group of ours in which this process is; empty: in none.
  static std::string current();
  // A group that make() made and whose makers are dead; `path` is what current() told one of them. Nothing while one of
  // them lives, or when it is gone or no group of ours.
  static std::optional<Cgroup> take_over(const std::string& path);
  // Whether there is a group of ours, whoever has it.
  static bool exists(const std::string& path);

  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) = delete;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  // Removes the group and those below it; one that still has processes stays, so in a child of fork_into() this does
  // nothing before it has called leave().
  ~Cgroup();

  // fork(), with the child in the group from its first moment; -1 where the kernel cannot (before 5.7).
  pid_t fork_into();
  void leave();                                   // this process goes back to the group above
  void leave_to_others() { directory_.reset(); }  // to be removed by who else has it; nothing else may be called then
  // SIGKILL to all of it; kernels before 5.14 cannot, and then nothing happens.
  void kill();
  bool populated() const;
  std::vector<pid_t> processes() const;  // without those of groups below it

 private:
  Cgroup(std::string above, std::string path, UniqueFd directory)
      : above_(std::move(above)), path_(std::move(path)), directory_(std::move(directory)) {}

  std::string above_;
  std::string path_;
  UniqueFd directory_;
};

}  // namespace sml::os
