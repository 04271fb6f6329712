// Runs a tool of the machine for its output, such as nvidia-smi.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace sml::os {

struct ToolOutput {
  std::string text;                      // standard output; empty: no such tool, or it hangs
  std::vector<std::string> passed_over;  // programs of that name that were not run, and why: clauses
};

// argv[0] is looked up in PATH of `environment`, without programs that others may have put there (trust.h). The tool
// has this process's environment, and ends with it, after 5 s, or when it has written 1 MiB. Blocks; any thread.
ToolOutput output_of_tool(const std::vector<std::string>& argv, std::span<const std::string> environment);

}  // namespace sml::os
