// How a worker ended, as a value. It becomes an int only where the launcher computes its own exit status.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace sml {

struct Exited {
  int code = 0;
  bool operator==(const Exited&) const = default;
};
struct Signaled {
  int signo = 0;
  bool core_dumped = false;
  bool operator==(const Signaled&) const = default;
};
// The worker never ran. `step` is the step of the start that failed; `sys_errno` is the cause.
enum class SpawnStep : std::uint8_t { Pipe, Fork, Directory, Limits, Exec, Binding };
struct SpawnFailed {
  SpawnStep step = SpawnStep::Exec;
  int sys_errno = 0;
  bool operator==(const SpawnFailed&) const = default;
};
// The end of the worker was not observed: its host or agent was lost.
struct Lost {
  std::string why;
  bool operator==(const Lost&) const = default;
};

using ExitStatus = std::variant<Exited, Signaled, SpawnFailed, Lost>;

bool succeeded(const ExitStatus& status);

// The status that a shell would show: code, 128+signal, 126/127 for exec failures, 125 for failures of the launcher.
int exit_code_of(const ExitStatus& status);

// "exited with status 3", "was killed by SIGSEGV (segmentation fault), core dumped", "cannot execute the program: no
// such file or directory".
std::string describe(const ExitStatus& status);

// "SIGTERM"; "signal 42" for numbers without a name.
std::string signal_name(int signo);

// Parses "TERM", "SIGTERM" or "15"; returns nullopt if the text names no signal.
std::optional<int> signal_number(std::string_view text);

}  // namespace sml
