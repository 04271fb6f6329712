// A starter: the program by which a batch system, or another system that runs programs on hosts, starts the agent on a
// host. Pure data and pure functions, one file for each starter; launch/starter_launcher.h runs them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"

namespace sml::starters {

using Environment = std::span<const std::string>;

// Names of variables. One that ends with '*' stands for all names that begin so.
using Names = std::span<const std::string_view>;

// The command for one host is made of these.
struct Target {
  std::string host;         // as the system names it
  std::string script;       // one line for a login shell
  Environment environment;  // the launcher's
  std::string answer;       // the standard output of `question`; empty if it could not be asked
};

// A call of the tool that starts a program on several hosts, once on each, and gives it no pipe to the caller.
struct StepTarget {
  std::span<const std::string> hosts;  // as the system names them
  std::vector<std::string> program;    // words, of which the first is an absolute path
  Environment environment;             // the launcher's
  std::string answer;                  // as in Target
  std::string tool;                    // the file that will be run
};

// How agents are started that call the launcher.
struct StepRule {
  // The arguments of the tool; null: it is not used so.
  Result<std::vector<std::string>> (*arguments)(const StepTarget&) = nullptr;
  std::size_t least_hosts = 1;        // of the job; below that each host gets a pipe
  std::size_t most_hosts = SIZE_MAX;  // of one call
  // The variable whose value all tasks of the job have, and nobody else; empty: what the tool starts has the
  // environment of the tool, which may hold a secret.
  std::string_view secret{};
};

// The end of the tool shows that the agent has ended (OfAgent), or that the connection may have broken, so that another
// call of the tool may find the agent that still runs (OfConnection). AsSsh: OfConnection if the tool exited with
// status 255 and a message, or a signal killed it; else OfAgent.
enum class EndOfTool : std::uint8_t { OfAgent, AsSsh, OfConnection };

struct Starter {
  std::string_view name;           // value of --start-by
  std::string_view system{};       // "Slurm"
  std::string_view tool{};         // the program, looked up in PATH
  std::string_view other_tool{};   // looked up where that is not there; empty: none
  std::string_view host_source{};  // of the hosts that it reaches, as --host-source names it; empty: any, and it is
                                   // never chosen by itself
  // The variable that every job of the system has; empty: the tool works outside of jobs.
  std::string_view job_variable{};
  // Where the tool is looked for before PATH; null: nowhere.
  std::vector<std::string> (*places)(Environment) = nullptr;
  // The arguments of a call of the tool that is made once, before the first host; empty: none.
  Names question{};
  // The arguments of the tool for a pipe to one host; null: it gives none. Error (Deploy): why there are none for that
  // host.
  Result<std::vector<std::string>> (*arguments)(const Target&) = nullptr;
  StepRule step{};
  Names not_for_tool{};     // removed from the environment of the tool, which they would configure
  Names not_for_workers{};  // set by the tool on the host, and removed there
  EndOfTool end = EndOfTool::OfAgent;
  // Summarizes the standard error of a tool that has ended, as a clause without the name of the host, so that hosts
  // with the same message can be reported in one line; empty: nothing known. Null: its last line.
  std::string (*account)(std::string_view errors) = nullptr;
};

// Whether the agents of a job of so many hosts call the launcher, rather than talk through the tool.
bool agents_call(const Starter& starter, std::size_t hosts);

// Whether one of the names stands for this variable.
bool stands_for(Names names, std::string_view variable);

// `environment` without the variables that the starter's tool must not have.
std::vector<std::string> environment_of_tool(const Starter& starter, Environment environment);

// Summarizes the errors of a tool that has ended, as Starter::account does.
std::string account_of(const Starter& starter, std::string_view errors);

// The last line that is not blank; empty if there is none.
std::string last_line(std::string_view errors);

// A clause for text that contains one of the parts, else its last line. The first row counts.
struct KnownWords {
  std::string_view part;
  std::string_view clause;
};
std::string clause_for(std::span<const KnownWords> known, std::string_view errors);

// The script as separate words, for tools that start programs without a shell.
std::vector<std::string> without_shell(std::vector<std::string> words, const std::string& script);

}  // namespace sml::starters
