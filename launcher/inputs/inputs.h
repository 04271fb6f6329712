// Makes a plan from the options.
#pragma once
#include <optional>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Reads the files and the machine that the options refer to. Host source: see host_source.h. Slots that the source does
// not name: --nproc-per-node, else GPUs, else Neuron cores, else 1, counted on this machine and only if needed; if this
// machine is the source, --np alone determines the slots. `torch_store`: that of an earlier plan of the same job;
// nullopt: it is chosen here. Blocks: the sources of hosts read files and may run tools of this machine, such as those
// of a batch system. Connects to nothing itself. Errors are of kind Usage or Config.
Result<plan::LaunchPlan> make_plan(const Options& options, const ThisHost& here, HostFinder& finder,
                                   std::optional<plan::TorchStore> torch_store = std::nullopt);
Result<plan::LaunchPlan> make_plan(const Options& options, const ThisHost& here);  // queries all sources anew

}  // namespace sml
