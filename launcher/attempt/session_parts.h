// The parts that the plans of sessions are made of: of those of the planned hosts (session_plans.h), and of those of
// hosts and ranks that are added while workers run (dynamic/dynamic_plans.h). Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "common/plan/launch_plan.h"
#include "common/wire/messages.h"
#include "launcher/attempt/session_plans.h"
#include "launcher/transport/session/agent_session.h"

namespace sml::attempt {

// The programs of the host's ranks from `first` on, and no others: other programs need not exist on this host.
std::vector<std::uint32_t> programs_of(const plan::MappedHost& host, const plan::JobMap& map, Rank first = Rank(0));
// These programs for an agent at that place.
std::vector<wire::App> apps_of(const std::vector<std::uint32_t>& programs, const plan::LaunchPlan& plan,
                               AgentPlace place);
// The host's ranks; Worker::app is an index in programs_of() the host.
std::vector<wire::Worker> workers_of(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                     const SessionSettings& settings);

// The same for every host.
wire::Prepare common_prepare(const plan::LaunchPlan& plan, const SessionSettings& settings);
wire::PreloadRequest preload_of(const SessionSettings& settings);
// Adds to `common` what a host with workers gets; without services and, so far, without programs.
wire::Prepare working_prepare(wire::Prepare common, const plan::MappedHost& host, const plan::LaunchPlan& plan,
                              const plan::JobShape& shape, const SessionSettings& settings);
// Adds what depends on the place of the agent: the programs, and the settings of processes.
wire::Prepare finished(wire::Prepare prepare, const std::vector<std::uint32_t>& programs, const plan::LaunchPlan& plan,
                       AgentPlace place);

// A session plan that has no `prepare` so far.
transport::AgentSession::Plan session_for(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                          const SessionSettings& settings);
// A session plan that keeps both of its messages, made at once: for the few hosts that are spare, join or come late.
transport::AgentSession::Plan session_for(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                          const SessionSettings& settings, const wire::Prepare& prepare,
                                          const std::vector<std::uint32_t>& programs);

}  // namespace sml::attempt
