// Hosts that call, before the job starts: finds out which host is the coordinator, and waits there for the others.
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
#include "launcher/start/run_peer.h"
#include "launcher/transport/background_task.h"

namespace sml {

// Completes `settings`: exchanges the key and the coordinator's address in the key space of the step, if there is one,
// and settles whether this host is the coordinator (Settings::own_index is 0). Returns the coordinator's listener if
// its port had to be opened for that. Empty: this host is a peer, or the port is opened later. May block for the start
// timeout. Error: as dialin::meet_in_space(), or Io.
Result<os::UniqueFd> meet_others(dialin::Settings& settings, const Options& options, const ThisHost& here);

// For PortTaken::HeadIsHere, where several of the hosts may be processes of this machine: if the port is free, opens
// it, and this host is the coordinator; if it is taken, makes this host a peer. Returns the listener; empty: this host
// is a peer, or the rule does not apply. Error (Io).
Result<os::UniqueFd> be_head_or_call(dialin::Settings& settings);

// On the coordinator, for a job that is planned when its hosts have called: waits for them, and replaces `plan` and
// adapts `settings` to the number that came. `listener` may be empty: it is opened then. Returns nullopt if the job can
// start; else the exit status, after the error was printed and sent to the hosts that wait.
std::optional<int> gather(dialin::Quorum& gathering, const Options& options, plan::LaunchPlan& plan,
                          dialin::Settings& settings, const PlanOfHosts& plan_of_hosts, os::UniqueFd listener);

// Completes a CoordinatorPlan for the run: with the coordinator that is `opened` already, or with `listener`, which is
// opened here if it is empty. nullopt if no host calls, or if no other host takes part. `task` may be null. Error (Io):
// the port cannot be opened.
Result<std::optional<dialin::CoordinatorPlan>> open_for_hosts(const Options& options,
                                                              const std::optional<dialin::Settings>& settings,
                                                              transport::PreLaunchTask* task,
                                                              std::shared_ptr<dialin::Coordinator> opened,
                                                              os::UniqueFd listener);

// The coordinator that gather() has opened. Null if there was no gather(), or if no other host can take part.
std::shared_ptr<dialin::Coordinator> head_of(std::optional<dialin::Quorum>& gathering, const Options& options);

}  // namespace sml
