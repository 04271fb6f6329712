// The commands sml-run ps, status, stop, signal, logs and stacks: finds the jobs of this machine, sends them requests
// by their sockets, and writes the answers to stdout and stderr.
#pragma once
#include <functional>
#include <string>

#include "launcher/options/control_line.h"

namespace sml::control {

// Runs the command to its end, which may be that of the job (stop, logs --follow, status --watch); blocks meanwhile.
// Returns the exit status of sml-run. `print` gets the messages for people, one sentence at a time; tables and output
// of ranks do not pass through it. Not for top.
int obey(const ControlLine& line, const std::function<void(const std::string&)>& print);

}  // namespace sml::control
