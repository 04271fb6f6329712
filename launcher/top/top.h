// sml-run top: shows a running job on the terminal until the user leaves.
#pragma once
#include <functional>
#include <string>

#include "launcher/control/job_finder.h"

namespace sml::top {

// Blocks until the user leaves, or a stop signal ends this process; takes over the signals of the terminal and the
// terminal itself meanwhile. Asks the job, by its socket, for its status once a second, and for output, stacks, signals
// or a stop when a key does. Returns the exit status of sml-run. `print` receives the error if there is no terminal.
int show(const control::JobSocket& job, const std::function<void(const std::string&)>& print);

}  // namespace sml::top
