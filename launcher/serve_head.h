// What a host does that calls the head of its job.
#pragma once
#include <functional>
#include <string>

#include "common/plan/launch_plan.h"
#include "launcher/dialin/settings.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/preparation.h"
#include "launcher/options/options.h"

namespace sml {

// What every host but the head does, to the end of the job; answers the exit status. Leaves a failure file where this
// host's worker decided, or where there is no head to say so.
// `chore` may be null.
int serve_head(const Options& options, const plan::LaunchPlan& plan, const dialin::Settings& settings,
               const launch::AgentImage& image, launch::Chore* chore,
               const std::function<void(const std::string&)>& say);

}  // namespace sml
