// sml-run top: shows a running job on the terminal until the user leaves.
#pragma once
#include <functional>
#include <string>

#include "launcher/control/job_finder.h"

namespace sml::top {

// Asks the job once a second, by sml-run status, and on a key for more. Returns the exit status of sml-run; `print`
// receives output for stderr, before and after the terminal is used.
int show(const control::JobSocket& job, const std::function<void(const std::string&)>& print);

}  // namespace sml::top
