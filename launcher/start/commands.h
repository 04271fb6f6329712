// The commands of sml-run: how it serves a step of a batch system, a subcommand for running jobs, or the options of a
// job.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace sml {

// The way in which this process was started.
struct Invocation {
  std::string called;                  // argv[0]; empty: there is none
  std::vector<std::string> arguments;  // the other words
  std::span<char* const> environment;  // the variables, of which secrets are removed
};

// Finds the command that the words ask for, runs it, and returns the exit status. Prints errors. Call before threads
// exist, with the standard descriptors open: if this process is PID 1, it forks (os::serve_as_init()).
int run_command(const Invocation& invocation);

}  // namespace sml
