// From the plan of a job to what each host's agent is told. Pure.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/launch/agent_session.h"
#include "launcher/launch/unheard.h"
#include "launcher/launch/wire_time.h"
#include "launcher/options/job_options.h"

namespace sml::attempt {

// Come: others may have workers while those of the first run.
enum class HostsMay : std::uint8_t { Stay, Come };

struct SessionSettings {
  launch::Unheard unheard;
  Duration start_timeout = std::chrono::seconds(60);
  std::uint64_t output_window = 0;        // bytes of output that a host may send ahead
  std::vector<std::string> interfaces{};  // that the workers are to use; empty: any
  wire::StderrPipe stderr_pipe = wire::StderrPipe::Own;
  wire::StdoutEnd stdout_end = wire::StdoutEnd::Pipe;
  UsageLook usage = UsageLook::Yes;
  std::vector<std::string> preload{};  // modules
  plan::RankMonitor monitor{};
  wire::TorchTraces torch_traces = wire::TorchTraces::No;
  std::function<bool(Rank)> wants_stdin;  // gets the launcher's input; empty: no rank does
  HostsMay hosts = HostsMay::Stay;
  wire::AcceleratorLook accelerators = wire::AcceleratorLook::No;
};

// What the options say of them. Of the head and of hosts that call it alike: each compares what the other makes of its
// options. `options` outlive it.
SessionSettings settings_for(const JobOptions& options, const plan::JobMap& map);
// The same where nothing is to be started.
SessionSettings settings_for_check(const JobOptions& options, const plan::JobMap& map);

bool wants_stdin(const JobOptions& options, Rank rank);

// Those that may have workers in some attempt of the run: the same number in each.
std::size_t hosts_that_print(const plan::JobMap& map);

// Output that may wait in the launcher for a slow reader, over all hosts.
std::uint64_t output_window(std::size_t hosts);
// Of that, what a host gets before it is known to be another machine. It fits into the pipe to an agent of this one,
// which then never finds that pipe full.
std::uint64_t first_output_window(std::size_t hosts);

// Names of the variables that look like secrets and so do not reach the workers of other hosts.
std::vector<std::string> withheld_secrets(const plan::LaunchPlan& plan);

// One per host that has ranks, in host order. Rank 0's host is the first: it reserves the rendezvous port.
std::vector<launch::AgentSession::Plan> session_plans(const plan::LaunchPlan& plan, const SessionSettings& settings);

// Of a rank's wish for others: what they run, after the programs of the plan.
std::vector<plan::Program> spawned_programs(const plan::LaunchPlan& plan, Rank asks,
                                            const std::vector<plan::SpawnProgram>& programs);

// What the hosts are told of `world`, whose ranks are the last of the plan's, in host order.
struct AddedWorld {
  std::vector<HostIndex> hosts;
  std::vector<wire::AddWorkers> messages;  // by these
};
enum class AgentPlace : std::uint8_t { ThisMachine, Remote };
// `place` answers nothing for hosts that need not be told; those with ranks of that world are.
AddedWorld added_world(const plan::LaunchPlan& plan, const plan::JobMap& world, const SessionSettings& settings,
                       const std::function<std::optional<AgentPlace>(HostIndex)>& place);

// Of a host that runs nothing, and is to have ranks of the plan from `first` on, which are spawned: they come as of
// added_world(), by that service.
launch::AgentSession::Plan late_plan(HostIndex host, const plan::LaunchPlan& plan, Rank first,
                                     const SessionSettings& settings, wire::WireUp service);

// Of a host that is to have ranks of `world`, which are the last of the plan's, and the place of each there is what
// counts. Their variables are told at the start.
launch::AgentSession::Plan joining_plan(HostIndex host, const plan::LaunchPlan& plan, const plan::JobMap& world,
                                        const SessionSettings& settings);

// Of a host that is to wait: its agent looks for the programs, and has nothing to start.
launch::AgentSession::Plan spare_plan(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                      const SessionSettings& settings);
// One per spare.
std::vector<launch::AgentSession::Plan> spare_plans(const plan::LaunchPlan& plan, const SessionSettings& settings);

}  // namespace sml::attempt
