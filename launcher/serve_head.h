// What a host does that calls the head of its job.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/dialin/settings.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/preparation.h"
#include "launcher/options/options.h"

namespace sml {

// The plan of a job of so many hosts, where that may vary, and of what they have said of themselves; empty: all have
// what this one has.
using PlanOfHosts = std::function<Result<plan::LaunchPlan>(std::uint32_t hosts, const plan::HostShares& shares)>;

// What every host but the head does, to the end of the job; answers the exit status. Leaves a failure file where this
// host's worker decided, or where there is no head to say so. `plan`: of as many hosts as there may be.
// `chore` may be null.
int serve_head(const Options& options, const plan::LaunchPlan& plan, const dialin::Settings& settings,
               const launch::AgentImage& image, launch::Chore* chore, const PlanOfHosts& plan_of_hosts,
               const std::function<void(const std::string&)>& say);

}  // namespace sml
