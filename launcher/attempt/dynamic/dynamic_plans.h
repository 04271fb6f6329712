// Derives from the plan of a job, with the ranks that are added to it while its workers run, what the agents receive
// for these ranks. Pure.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "common/plan/launch_plan.h"
#include "common/plan/ranks/spawn_map.h"
#include "common/wire/messages.h"
#include "launcher/attempt/session_plans.h"
#include "launcher/transport/session/agent_session.h"

namespace sml::attempt {

// Returns the programs that a spawn request of the rank `asks` adds; they are to follow the programs of the plan.
std::vector<plan::Program> spawned_programs(const plan::LaunchPlan& plan, Rank asks,
                                            const std::vector<plan::SpawnProgram>& programs);

// The messages to the hosts about `world`, whose ranks are the last of the plan's, in host order.
struct AddedWorld {
  std::vector<HostIndex> hosts;
  std::vector<wire::AddWorkers> messages;  // one per entry of `hosts`
};
// `place` returns where the agent of a host runs, or nullopt if the host needs no message; hosts with ranks of that
// world get one in any case.
AddedWorld added_world(const plan::LaunchPlan& plan, const plan::JobMap& world, const SessionSettings& settings,
                       const std::function<std::optional<AgentPlace>(HostIndex)>& place);

// The session plan of a host that runs nothing and is to have spawned ranks, those of the plan from `first` on. Its
// agent only looks for their programs: the ranks themselves follow in a message of added_world(). `service`: the
// service by which they find each other.
transport::AgentSession::Plan late_plan(HostIndex host, const plan::LaunchPlan& plan, Rank first,
                                        const SessionSettings& settings, wire::WireUp service);

// The session plan of a host that is to have ranks of `world`, which are the last of the plan's (hvd.elastic). Local
// ranks count within that world. The ranks' variables are sent at the start.
transport::AgentSession::Plan joining_plan(HostIndex host, const plan::LaunchPlan& plan, const plan::JobMap& world,
                                           const SessionSettings& settings);

}  // namespace sml::attempt
