// Processes that carry a mark in the environment with which they were started, and what became of them. Linux; agent
// only.
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
  std::uint64_t started = 0;  // ticks since the boot: with the pid, a name that is never used again
  bool marked = false;
};

// All that run now, without zombies. Marked are those of our own user whose environment has `entry` ("NAME=VALUE").
std::vector<SeenProcess> look_at_processes(std::string_view entry);

// Those that nobody looks after any more, and what descends from them: marked, and their parent is the one to whom
// orphans of this host go, which is the init process, or one of those above `self`. A marked process below anybody else
// was handed over to that one (a batch system, a terminal's server), and is left alone, as are `self` and those above.
std::vector<SeenProcess> abandoned(std::span<const SeenProcess> all, pid_t self);

// SIGKILL, to that process and to none that has got its number since. False when it is gone, or not ours to kill.
bool kill_process(const SeenProcess& process);

}  // namespace sml::os
