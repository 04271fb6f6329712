// Prints the plan of a job.
#pragma once
#include <optional>
#include <string>

#include "common/plan/launch_plan.h"
#include "launcher/options/options.h"

namespace sml {

// "8 ranks on 2 hosts, from -H"
std::string one_line_about(const plan::LaunchPlan& plan);

// Names the way to the other hosts, and the reason for it; empty if there are none.
std::string line_about_start(const plan::LaunchPlan& plan, const Options& options);

// The exit status if the options only ask to show the plan.
std::optional<int> show_plan(const Options& options, const plan::LaunchPlan& plan);

}  // namespace sml
