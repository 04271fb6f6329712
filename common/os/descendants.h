// Finding and collecting everything that descends from this process. Linux; agent only.
#pragma once
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/core/exit_status.h"
#include "common/core/usage.h"

namespace sml::os {

// Orphans among our descendants become our children instead of init's (PR_SET_CHILD_SUBREAPER). False: not supported.
bool become_subreaper();

// Pids of our children now, zombies included: workers, and orphans that came to us. They stay ours until reaped, so
// signalling them can hit nobody else.
std::vector<pid_t> children();

// Those of the main thread of a process, which may be gone by now; none where the kernel does not list them.
std::vector<pid_t> children_of(pid_t pid);

// A process and what it has started, at most `most` of them.
std::vector<pid_t> family_of(pid_t pid, std::size_t most);

// By a signal; false when it is gone.
bool is_stopped(pid_t pid);

// The effective users of all processes below this one. Looks at every process of the machine: not for often.
std::set<uid_t> users_of_descendants();

// Collects every child that has ended, without waiting; calls `ended` for each. The only place of the agent that reaps.
void reap_children(const std::function<void(pid_t, const ExitStatus&, const Usage&)>& ended);

// "pid 4711 (python3), state D, in nfs_wait_on_request": for processes that would not die.
std::string describe_process(pid_t pid);

}  // namespace sml::os
