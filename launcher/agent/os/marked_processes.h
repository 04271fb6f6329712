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
  std::uint64_t started = 0;  // ticks since the boot; with the pid, it identifies the process even if the pid is reused
  bool marked = false;
};

// Returns all current processes, without zombies. A process is marked if it belongs to this process's user and its
// environment has `entry` ("NAME=VALUE").
std::vector<SeenProcess> look_at_processes(std::string_view entry);

// Returns abandoned processes and their descendants. A marked process is abandoned if its parent is one that adopts
// orphans on this host: the init process or an ancestor of `self`. A marked process with another parent was handed over
// to that parent (a batch system, a terminal's server) and is left alone, as are `self` and its ancestors. `self`: the
// pid of the caller.
std::vector<SeenProcess> abandoned(std::span<const SeenProcess> all, pid_t self);

// Sends SIGKILL to that process, but not to a later one with the same pid. Returns false if it is gone or may not be
// killed.
bool kill_process(const SeenProcess& process);

}  // namespace sml::os
