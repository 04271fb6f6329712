// A program of the job that is a launcher itself: torchrun, mpirun and their like start ranks of their own.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"

namespace sml {

// Warnings about programs of `plan` that are launchers, which most often is a word too much on the line. None for links
// to this program, nor where each of several hosts has one copy, as launchers that are started on every host have it.
// Looks for files, and starts none.
std::vector<std::string> warnings_of_launchers(const plan::LaunchPlan& plan);

// The pure part: the advice for that command; empty: it starts no launcher.
std::string advice_on_launcher(std::span<const std::string> command);

}  // namespace sml
