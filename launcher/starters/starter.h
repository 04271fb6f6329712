// A starter: the program ("tool") by which a batch system, or another system that runs programs on hosts, starts the
// agent on a host. Pure data and pure functions, one file for each starter; transport/starter_launcher.h and
// dialin/step/step_launcher.h run the tool.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::starters {

using Environment = std::span<const std::string>;  // NAME=VALUE

// Names of variables. A name that ends with '*' stands for all names that begin with the part before it.
using Names = std::span<const std::string_view>;

// The input for the command that starts the agent on one host, with a pipe to it.
struct Target {
  std::string host;         // as the system names it
  std::string script;       // one line for a login shell
  Environment environment;  // the launcher's
  std::string answer;       // the standard output of the call of Starter::question; empty: it failed, or there is none
};

// The input for a command that starts a program on several hosts, once on each, without a pipe to it.
struct StepTarget {
  std::span<const std::string> hosts;  // as the system names them
  std::vector<std::string> program;    // words, of which the first is an absolute path
  Environment environment;             // the launcher's
  std::string answer;                  // as in Target
  std::string tool;                    // the path of the tool that will be run
};

// How a step is started whose hosts call the launcher (dialin/step/step_call.h).
struct StepRule {
  // Makes the arguments of the tool; null: it starts no such steps. Error (Deploy).
  Result<std::vector<std::string>> (*arguments)(const StepTarget&) = nullptr;
  std::size_t least_hosts = 1;        // used for jobs with at least so many hosts; else each host gets a pipe
  std::size_t most_hosts = SIZE_MAX;  // the largest number of hosts of one call
  // The variable with a secret that the batch system gives to all tasks of the job, and to no other process. Empty: the
  // programs that the tool starts have the tool's environment, in which the launcher passes a secret of its own.
  std::string_view secret{};
};

// The meaning of the tool's end: the agent has ended (OfAgent), or perhaps only the connection to it has, so that
// another call of the tool may find the agent still running (OfConnection). AsSsh: OfConnection if the tool exited with
// status 255 and a message, or a signal killed it; else OfAgent.
enum class EndOfTool : std::uint8_t { OfAgent, AsSsh, OfConnection };

// When the pipe ends that the tool gives: when all processes on the host that hold it have closed it (OfAgent), or when
// the process that the tool has started there has ended (OfTask), which is the agent's guardian.
enum class EndOfPipe : std::uint8_t { OfAgent, OfTask };

struct Starter {
  std::string_view name;          // value of --start-by
  std::string_view system{};      // the batch system, for people: "Slurm"
  std::string_view tool{};        // the program, looked up in PATH
  std::string_view other_tool{};  // looked up where that is not there; empty: none
  // The source of the hosts that it reaches, as --host-source names it. Empty: it may reach hosts of any source, and is
  // used only if the user names it.
  std::string_view host_source{};
  // The variable that every job of the system has; empty: the tool works outside of jobs.
  std::string_view job_variable{};
  // Paths at which the tool is looked for before PATH; null: none.
  std::vector<std::string> (*places)(Environment) = nullptr;
  // The arguments of a call of the tool that is made once, before the first host; empty: none.
  Names question{};
  // Makes the arguments of the tool that start the agent on one host with a pipe to it; null: the tool gives no pipe.
  // Error (Deploy): why that host cannot be reached so.
  Result<std::vector<std::string>> (*arguments)(const Target&) = nullptr;
  StepRule step{};
  // Options that the tool also needs where the user names it in --ssh-command, inserted behind its name.
  Names options_in_command{};
  Names not_for_tool{};     // removed from the environment of the tool, since they would change what it does
  Names not_for_workers{};  // set by the tool on the host, and removed there
  EndOfTool end = EndOfTool::OfAgent;
  EndOfPipe pipe = EndOfPipe::OfAgent;
  // Summarizes the standard error of a tool that has ended, as a part of a sentence. It leaves out the name of the
  // host, so that hosts with the same text can be reported in one line. Returns an empty text if it recognizes no
  // cause. Null: the last line is the summary.
  std::string (*account)(std::string_view errors) = nullptr;
};

// Whether a job of so many hosts uses Starter::step, so that its hosts call the launcher, rather than pipes.
bool agents_call(const Starter& starter, std::size_t hosts);

// Whether one of the names stands for this variable.
bool stands_for(Names names, std::string_view variable);

// `environment` without the variables that the starter's tool must not have.
std::vector<std::string> environment_of_tool(const Starter& starter, Environment environment);

// Summarizes the errors of a tool that has ended, as Starter::account does.
std::string account_of(const Starter& starter, std::string_view errors);

// The last line that is not blank; empty if there is none.
std::string last_line(std::string_view errors);

// A row of a table of known errors.
struct KnownWords {
  std::string_view part;    // found in the error text
  std::string_view clause;  // the summary then, as of Starter::account
};
// The `clause` of the first row whose `part` is in `errors`; if there is none, the last line of `errors`.
std::string clause_for(std::span<const KnownWords> known, std::string_view errors);

// Appends the words of a command that runs `script` by /bin/sh, for tools that start programs without a shell.
std::vector<std::string> without_shell(std::vector<std::string> words, const std::string& script);

}  // namespace sml::starters
