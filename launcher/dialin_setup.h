// Jobs whose hosts call each other: what this host is in one, and its part of it.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/dialin/settings.h"
#include "launcher/inputs.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/preparation.h"
#include "launcher/options.h"
#include "launcher/training.h"

namespace sml {

// Nothing: sml-run is started on one host only, and reaches the others. Otherwise the place of this host among those of
// the plan, the head, and the key: from --secret-file, $SML_JOB_SECRET, or what the platform tells this job's hosts and
// nobody else. Reads a file. Errors: Usage or Config. `build` tells this sml-run from others.
Result<std::optional<dialin::Settings>> choose_dial_in(const Options& options, const Training& training,
                                                       const plan::LaunchPlan& plan, const Machine& machine,
                                                       const std::string& build);

// Whether the hosts of the job call each other, and this one is not among them: it is of another instance group.
bool takes_no_part(const Options& options, const Training& training, const plan::LaunchPlan& plan);

// Completes the plan of such a job: each host starts with its own environment, and this one has a name.
void adapt_plan(plan::LaunchPlan& plan, const Training& training, const dialin::Settings& settings);

// What every host but the head does, to the end of the job; answers the exit status. Leaves a failure file where this
// host's worker decided, or where there is no head to say so.
// `chore` may be null.
int serve_head(const Options& options, const plan::LaunchPlan& plan, const dialin::Settings& settings,
               const launch::AgentImage& image, launch::Chore* chore,
               const std::function<void(const std::string&)>& say);

}  // namespace sml
