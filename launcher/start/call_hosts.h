// The coordinator's side of hosts that call, before the job starts.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "common/plan/launch_plan.h"
#include "launcher/dialin/coordinator/coordinator.h"
#include "launcher/dialin/coordinator/quorum.h"
#include "launcher/dialin/settings.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"
#include "launcher/start/serve_head.h"
#include "launcher/transport/background_task.h"

namespace sml {

// Finds out where the head is, and opens its port if that has to be done before. Empty: it is opened later, or this
// host calls.
Result<os::UniqueFd> meet_others(dialin::Settings& settings, const Options& options, const ThisHost& here);

// If several of the hosts may be processes on this machine, the first of them becomes the coordinator and listens.
Result<os::UniqueFd> be_head_or_call(dialin::Settings& settings);

// For a job that is planned when its hosts have called: waits for them, and fits `plan` and `settings` to the number
// that came. Returns the exit status if that fails, after the error was printed.
std::optional<int> gather(dialin::Quorum& gathering, const Options& options, plan::LaunchPlan& plan,
                          dialin::Settings& settings, const PlanOfHosts& plan_of_hosts, os::UniqueFd listener);

// Where the coordinator accepts hosts; nullopt if no host calls.
Result<std::optional<dialin::CoordinatorPlan>> open_for_hosts(const Options& options,
                                                              const std::optional<dialin::Settings>& settings,
                                                              transport::PreLaunchTask* task,
                                                              std::shared_ptr<dialin::Coordinator> opened,
                                                              os::UniqueFd listener);

// Null if no host calls, or if no other host takes part.
std::shared_ptr<dialin::Coordinator> head_of(std::optional<dialin::Quorum>& gathering, const Options& options);

}  // namespace sml
