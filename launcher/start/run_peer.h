// The part of a peer: a host that calls the coordinator of its job.
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

// Makes the plan of a job with `hosts` hosts, for jobs whose number of hosts may vary. `shares`: of all hosts, by
// place; empty: all have the share of this one.
using PlanOfHosts = std::function<Result<plan::LaunchPlan>(std::uint32_t hosts, const plan::HostShares& shares)>;

// Runs a peer's part to the end of the job: calls the coordinator, and runs the agent for it; blocks. Returns the exit
// status. Writes the failure file if the coordinator has sent a text for it, or if this host has an error of its own.
// `plan` is for the maximum number of hosts. `task`: runs before the agent starts; may be null.
int run_peer(const Options& options, const plan::LaunchPlan& plan, const dialin::Settings& settings,
             const transport::AgentImage& image, transport::PreLaunchTask* task, const PlanOfHosts& plan_of_hosts,
             const std::function<void(const std::string&)>& print);

}  // namespace sml
