// sml-run top: shows a running job on the terminal until the user leaves.
#pragma once
#include <functional>
#include <string>

#include "launcher/control/job_finder.h"

namespace sml::top {

// Blocks until the user leaves. Requests the status of the job once a second, and output, stacks, signals or a stop
// when a key asks for them. Returns the exit status of sml-run; `print` receives output for stderr, before and after
// the terminal is used.
int show(const control::JobSocket& job, const std::function<void(const std::string&)>& print);

}  // namespace sml::top
