// Prints the plan of a job.
#pragma once
#include <optional>
#include <string>

#include "common/plan/launch_plan.h"
#include "launcher/options/options.h"

namespace sml {

// "8 ranks on 2 hosts, from -H"
std::string one_line_about(const plan::LaunchPlan& plan);

// A line that explains how the other hosts are reached, and why so; empty if that needs no explanation.
std::string line_about_start(const plan::LaunchPlan& plan, const Options& options);

// Shows what the options ask for: the plan or the environment of a rank. Returns the exit status if that is all that
// they ask for; nullopt: the job is to start.
std::optional<int> show_plan(const Options& options, const plan::LaunchPlan& plan);

}  // namespace sml
