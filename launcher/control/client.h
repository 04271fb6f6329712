// sml-run ps, status, stop, signal, logs and stacks: asks running jobs and prints what they answer.
#pragma once
#include <functional>
#include <string>

#include "launcher/options/control_line.h"

namespace sml::control {

// To the end; answers the exit status of sml-run. `say` takes what goes to stderr, a sentence at a time.
int obey(const ControlLine& line, const std::function<void(const std::string&)>& say);

}  // namespace sml::control
