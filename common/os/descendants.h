// Finds and reaps the descendants of this process: the agent, its guardian, or a launcher that is process 1. Linux.
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

// Orphaned descendants become children of this process instead of init's (PR_SET_CHILD_SUBREAPER). Returns false if
// that is not supported.
bool become_subreaper();

// The pids of the current children of this process's main thread, zombies included: workers, and adopted orphans. Their
// pids are not reused until they are reaped, so a signal cannot hit another process.
std::vector<pid_t> children();

// The children of the main thread of a process, which may be gone by now; empty if the kernel does not list them.
std::vector<pid_t> children_of(pid_t pid);

// A process, which comes first, and its descendants. The search ends when it has found at least `most` processes, so
// that the result may be somewhat longer.
std::vector<pid_t> family_of(pid_t pid, std::size_t most);

// Whether a signal has stopped the process; false if it is gone.
bool is_stopped(pid_t pid);

// The effective users of all descendants of this process. Scans every process of the machine: do not call often.
std::set<uid_t> users_of_descendants();

// Reaps every child that has ended, without waiting; calls `ended` for each. Code that waits for one child by its pid
// must do so before the next call, which would take its status away.
void reap_children(const std::function<void(pid_t, const ExitStatus&, const Usage&)>& ended);

// "pid 4711 (python3), state D, in nfs_wait_on_request": for messages about processes that do not die.
std::string describe_process(pid_t pid);

}  // namespace sml::os
