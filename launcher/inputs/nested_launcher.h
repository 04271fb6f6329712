// Recognizes a program of the job that is a launcher itself, such as torchrun or mpirun, and would start ranks of its
// own.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"

namespace sml {

// Warns about programs of `plan` that are launchers: usually the user has left the other launcher in the command line
// by mistake. Does not warn about links to sml-run itself, nor if each of several hosts runs one copy, as that is how
// launchers are started that need one process on every host. Looks for files, and starts none.
std::vector<std::string> warnings_of_launchers(const plan::LaunchPlan& plan);

// The advice about one command; empty: the command starts no launcher. Pure.
std::string advice_on_launcher(std::span<const std::string> command);

}  // namespace sml
