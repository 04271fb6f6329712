// The role of a host that calls the coordinator of its job.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/dialin/settings.h"
#include "launcher/options/options.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/background_task.h"

namespace sml {

// The plan of a job of so many hosts, where that may vary, and of what they have said of themselves; empty: all have
// what this one has.
using PlanOfHosts = std::function<Result<plan::LaunchPlan>(std::uint32_t hosts, const plan::HostShares& shares)>;

// Runs the part of every host but the coordinator, to the end of the job; returns the exit status. Writes a failure
// file if this host's worker was the root cause, or if there is no coordinator to report it. `plan` is for the maximum
// number of hosts. `task` may be null.
int serve_head(const Options& options, const plan::LaunchPlan& plan, const dialin::Settings& settings,
               const transport::AgentImage& image, transport::PreLaunchTask* task, const PlanOfHosts& plan_of_hosts,
               const std::function<void(const std::string&)>& print);

}  // namespace sml
