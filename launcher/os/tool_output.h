// Runs a tool of the machine for its output, such as nvidia-smi.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace sml::os {

struct ToolOutput {
  std::string text;  // standard output until its end or a limit; empty: no such tool, or it has printed no text
  std::vector<std::string> passed_over;  // parts of sentences: programs of that name that were not run, and why
};

// Looks up argv[0] in PATH of `environment`, skipping programs that others may have put there (common/os/trust.h). The
// tool has this process's environment, as spawn_helper() gives it. It is killed after 5 s, when it has written 1 MiB,
// or when this process ends. Its exit status is not looked at. Blocks; any thread.
ToolOutput output_of_tool(const std::vector<std::string>& argv, std::span<const std::string> environment);

}  // namespace sml::os
