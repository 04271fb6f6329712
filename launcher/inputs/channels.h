// Turns --channel into the channels of a plan.
#pragma once
#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Adds the channels to the plan, with absolute folders. A folder that the platform has sharded over the hosts is not
// sharded over them again; the plan has a warning about that.
Result<void> add_channels(plan::LaunchPlan& plan, const Options& options, const ThisHost& here);

// Error (Usage): a channel of --channel and one of --pipe-fanout have the same name; both would define where its data
// is.
Result<void> check_channels(const plan::LaunchPlan& plan);

}  // namespace sml
