// Hosts that call: determines whether the hosts of a job call a coordinator, this host's role, and its settings.
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

// Returns nullopt if sml-run is started on one host only and reaches the others itself. Otherwise returns all settings,
// with this host's place, the coordinator's address and the job key (find_job_key(), which may block). With
// Settings::space they are complete only after meet_in_space(). `build` identifies the build of sml-run (build_of()).
// Error: Usage, Config or Timeout.
Result<std::optional<dialin::Settings>> choose_dial_in(const Options& options, const Training& training,
                                                       const plan::LaunchPlan& plan, const ThisHost& here,
                                                       const std::string& build);

// True if the hosts of the job call a coordinator and this host is not one of them, since it belongs to another
// instance group of the platform.
bool takes_no_part(const Options& options, const Training& training, const plan::LaunchPlan& plan);

// The plan of a job whose hosts call: workers start from the environment of their own host, without the launcher's, and
// without $SML_JOB_SECRET.
plan::LaunchPlan plan_of_calling_host(plan::LaunchPlan plan, const Training& training);

// For a peer that cannot plan the job: settings for tell_head(), computed only from the options and facts about the
// hosts, not from the program to run. May block as choose_dial_in() does. Returns nullopt if the coordinator cannot be
// found, if the hosts do not call, or if this host is the coordinator.
std::optional<dialin::Settings> find_head(const Options& options, const ThisHost& here, HostFinder& finder,
                                          const std::string& build);

// Calls the coordinator, sends it `why`, the reason why this host cannot take part, and waits for the outcome: the job
// ends with that reason. It tries for as long as a host that takes part would. Blocks; has no result, also if the
// coordinator is never reached. Passes progress messages to `print`.
void tell_head(const Options& options, const dialin::Settings& settings, const Error& why,
               const transport::AgentImage& image, const std::function<void(const std::string&)>& print);

}  // namespace sml
