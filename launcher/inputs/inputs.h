// From options to a plan.
#pragma once
#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/inputs/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Reads the files and the machine that the options point to. Host source: see host_source.h. Slots that the source does
// not name: --nproc-per-node, else GPUs, else Neuron cores, else 1, counted on this machine and only when needed; when
// this machine is the source, --np alone is as good as slots. Nothing is connected. Errors are of kind Usage or Config.
Result<plan::LaunchPlan> make_plan(const Options& options, const ThisHost& here, HostFinder& finder);
Result<plan::LaunchPlan> make_plan(const Options& options, const ThisHost& here);  // asks all sources anew

}  // namespace sml
