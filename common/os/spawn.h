// Starts processes: workers, which are killed when their starter dies, and helper programs, which are not. Finds the
// files of their programs.
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

// Parameters of a worker process. Descriptors stay the caller's; their duplicates become 0, 1 and 2 of the worker.
struct WorkerProcess {
  std::string program;  // the file to execute; empty: argv[0], looked up in PATH of `environment`
  std::span<const std::string> argv;
  std::span<const std::string> environment;  // complete
  std::string working_directory;             // empty: that of this process
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  unsigned long descriptor_limit = 0;       // soft RLIMIT_NOFILE of the worker; 0: inherit
  std::span<const int> ignored_signals;     // ignored by this process; reset in the worker: see ignored_signals()
  std::span<const KernelCall> settings{};   // calls that the worker makes before its program is executed
  std::span<const int> more_descriptors{};  // stay the caller's, too; become 3, 4, ...
};

// The signals that this process ignores now. exec resets handlers, but not ignored signals.
std::vector<int> ignored_signals();

// Starts a worker: leader of its own process group, killed by SIGKILL when the calling thread dies, with no descriptors
// but 0-2 and the given ones, no blocked signal, and default actions for `ignored_signals`. It stays in the caller's
// session, since Linux shares CPUs among sessions (sched(7), "The autogroup feature"): with more ranks than CPUs, a
// rank that waits for others in a loop of sched_yield(2) does not yield to a process of another session, and MPI takes
// 200 times as long. Call it on a thread that lives as long as the process; that thread waits until the program is
// executed. On failure nothing is left to reap. Never uses a shell: a script without "#!" is ENOEXEC.
std::variant<pid_t, SpawnFailed> spawn_worker(const WorkerProcess& worker);

// The files that execve is tried on for argv[0], in order: one if it contains a '/', else one per folder of PATH.
std::vector<std::string> program_candidates(const std::string& program, std::span<const std::string> environment);

// This process's PATH as an environment for program_candidates().
std::vector<std::string> own_search_path();

// This process's environment as it is now.
std::vector<std::string> own_environment();

// Whether one of the candidates is a file that this process may execute. Starts nothing.
bool has_program(const std::string& program, std::span<const std::string> environment);

// Checks that a worker's directory can be entered: kind Spawn. Empty: that of this process.
Result<void> check_directory(const std::string& working_directory);

// Returns the file that would be executed (a relative one is relative to the directory). Error NotFound, NotExecutable,
// or Spawn for a working directory that cannot be entered. Starts nothing.
Result<std::string> find_program(std::span<const std::string> argv, std::span<const std::string> environment,
                                 const std::string& working_directory);

// A program that is no worker, such as an agent, a ProxyCommand or py-spy: own session, given descriptors as 0, 1, 2,
// default signals. The caller reaps it. Thread-safe (posix_spawn). argv[0] is looked up in this process's PATH,
// skipping programs that other users may have put there (trust.h); `program_fd` >= 0 executes that descriptor instead.
// keep_trusted_lists() trims its environment, so that it neither starts nor loads by name a file of another user.
struct HelperProcess {
  std::vector<std::string> argv;
  int program_fd = -1;
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::span<const std::string> environment{};  // replaces that of this process; empty: inherit
  bool environment_as_it_is = false;           // for agents, whose workers have it, and where the caller has judged it
};
Result<pid_t> spawn_helper(const HelperProcess& helper);

}  // namespace sml::os
