// Jobs whose hosts call each other: what this host is in one, and its part of it.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/dialin/settings.h"
#include "launcher/inputs/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/launch/agent_image.h"
#include "launcher/options/options.h"
#include "launcher/sagemaker/training.h"

namespace sml {

// Nothing: sml-run is started on one host only, and reaches the others. Otherwise the place of this host among those of
// the plan, the head, and the key of job_key.h. Reads files. Errors: Usage or Config. `build` tells this sml-run from
// others.
Result<std::optional<dialin::Settings>> choose_dial_in(const Options& options, const Training& training,
                                                       const plan::LaunchPlan& plan, const ThisHost& here,
                                                       const std::string& build);

// Whether the hosts of the job call each other, and this one is not among them: it is of another instance group.
bool takes_no_part(const Options& options, const Training& training, const plan::LaunchPlan& plan);

// Completes the plan of such a job: each host starts with its own environment, and this one has a name.
void adapt_plan(plan::LaunchPlan& plan, const Training& training, const dialin::Settings& settings);

// What this host can tell the head when it has no plan of the job, and that is another host: found from what the
// command line and the machine say of the hosts, whatever is to run there. Nothing: it cannot be found, or the hosts do
// not call, or this one is the head.
std::optional<dialin::Settings> find_head(const Options& options, const ThisHost& here, HostFinder& finder,
                                          const std::string& build);

// Calls the head for as long as a host that takes part would, and tells it why this one does not; the job ends for that
// reason. Says who is called, and what came of it.
void tell_head(const Options& options, const dialin::Settings& settings, const Error& why,
               const launch::AgentImage& image, const std::function<void(const std::string&)>& say);

}  // namespace sml
