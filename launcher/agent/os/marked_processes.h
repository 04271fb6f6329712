// Finds processes that were started with a given environment entry, the mark, and those of them that are abandoned.
// Linux; agent only.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace sml::os {

struct SeenProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t started = 0;  // ticks since the boot: together with the pid a unique name
  bool marked = false;
};

// All current processes, without zombies. Marked are those of the same user whose environment has `entry`
// ("NAME=VALUE").
std::vector<SeenProcess> look_at_processes(std::string_view entry);

// Returns abandoned processes and their descendants. Abandoned is a marked process whose parent is one to which orphans
// of this host go: the init process or an ancestor of `self`. A marked process below any other parent was handed over
// to that parent (a batch system, a terminal's server) and is left alone, as are `self` and its ancestors.
std::vector<SeenProcess> abandoned(std::span<const SeenProcess> all, pid_t self);

// Sends SIGKILL to that process, but not to a later one with the same pid. Returns false if it is gone or may not be
// killed.
bool kill_process(const SeenProcess& process);

}  // namespace sml::os
