// The two ways by which processes of ours come into being.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/os/affinity.h"

namespace sml::os {

// A worker, ready to run. Descriptors stay the caller's; they become 0, 1 and 2 of the worker.
struct WorkerProcess {
  std::string program;  // the file to execute; empty: argv[0], looked up in PATH of `environment`
  std::span<const std::string> argv;
  std::span<const std::string> environment;  // all of it
  std::string working_directory;             // empty: ours
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  unsigned long descriptor_limit = 0;       // soft RLIMIT_NOFILE of the worker; 0: ours
  std::span<const int> ignored_signals;     // those that we ignore: see ignored_signals()
  const ProcessBinding* binding = nullptr;  // null: as ours
  std::span<const int> more_descriptors{};  // the caller's, too; they become 3, 4, ...
};

// The signals that this process ignores now. exec resets handlers, but not these.
std::vector<int> ignored_signals();

// Starts a worker: leader of a process group of its own, SIGKILL when the calling thread dies, no descriptor but 0-2
// and those that it is given, no blocked signal, none ignored but those that are not named. In our session, as Linux
// shares processors out among sessions (sched(7), "The autogroup feature"): where ranks are more than processors, one
// that waits for others in a loop of sched_yield(2) gives way to no process of another session, and MPI takes 200 times
// as long. Agent only; must be called on a thread that lives as long as the process. On failure nothing is left to
// reap. Never goes through a shell: a script without "#!" is ENOEXEC.
std::variant<pid_t, SpawnFailed> spawn_worker(const WorkerProcess& worker);

// The files that execve would be tried on for argv[0], in order: one if it has a '/', else one per folder of PATH.
std::vector<std::string> program_candidates(const std::string& program, std::span<const std::string> environment);

// For program_candidates(): our own.
std::vector<std::string> own_search_path();

// Whether one of them is a file that we may execute. Starts nothing.
bool has_program(const std::string& program, std::span<const std::string> environment);

// Whether a worker's directory can be entered: kind Spawn. Empty: ours.
Result<void> check_directory(const std::string& working_directory);

// Which file would be executed (a relative one is relative to the directory), and whether it could: kind NotFound,
// NotExecutable, or Spawn for a working directory that cannot be entered. Starts nothing.
Result<std::string> find_program(std::span<const std::string> argv, std::span<const std::string> environment,
                                 const std::string& working_directory);

// A helper of the launcher (agent, ssh command): own session, given descriptors as 0, 1, 2, default signals.
// Thread-safe (posix_spawn). argv[0] is looked up in our PATH, where what others may have put there is passed over
// (trust.h); `program_fd` >= 0 executes that descriptor instead.
struct HelperProcess {
  std::vector<std::string> argv;
  int program_fd = -1;
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::span<const std::string> environment{};  // instead of ours; empty: ours
};
Result<pid_t> spawn_helper(const HelperProcess& helper);

}  // namespace sml::os
