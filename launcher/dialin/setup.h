// Jobs whose hosts call the coordinator: determines this host's role and its settings.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/dialin/settings.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"
#include "launcher/sagemaker/training.h"
#include "launcher/transport/agent_image.h"

namespace sml {

// Returns nullopt if sml-run is started on one host only and reaches the others. Otherwise: the place of this host
// among those of the plan, the coordinator, and the key of job_key.h. Reads files. Errors: Usage or Config. `build`
// identifies the build of sml-run.
Result<std::optional<dialin::Settings>> choose_dial_in(const Options& options, const Training& training,
                                                       const plan::LaunchPlan& plan, const ThisHost& here,
                                                       const std::string& build);

// True if the hosts of the job call a coordinator and this one is not among them: it belongs to another instance group.
bool takes_no_part(const Options& options, const Training& training, const plan::LaunchPlan& plan);

// Completes the plan of such a job: each host starts from its own environment, and this host has its name.
void adapt_plan(plan::LaunchPlan& plan, const Training& training, const dialin::Settings& settings);

// For a peer that has no plan of the job: settings for tell_head(), computed from what the command line and the machine
// give about the hosts, whatever is to run there. Returns nullopt if the coordinator cannot be found, the hosts do not
// call, or this host is the coordinator.
std::optional<dialin::Settings> find_head(const Options& options, const ThisHost& here, HostFinder& finder,
                                          const std::string& build);

// Calls the coordinator for as long as a host that takes part would, and sends it the reason why this host does not;
// the job ends with that reason. Passes progress messages to `print`.
void tell_head(const Options& options, const dialin::Settings& settings, const Error& why,
               const transport::AgentImage& image, const std::function<void(const std::string&)>& print);

}  // namespace sml
