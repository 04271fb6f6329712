// sml-run ps, status, stop, signal, logs and stacks: sends requests to running jobs and prints their answers.
#pragma once
#include <functional>
#include <string>

#include "launcher/options/control_line.h"

namespace sml::control {

// Runs the command to its end and returns the exit status of sml-run. `print` receives output for stderr, one sentence
// at a time.
int obey(const ControlLine& line, const std::function<void(const std::string&)>& print);

}  // namespace sml::control
