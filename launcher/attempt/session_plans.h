// Derives from the plan of a job the session plans: what each host's agent receives. Pure.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/options/job_options.h"
#include "launcher/transport/session/agent_session.h"
#include "launcher/transport/session/heartbeat_loss_policy.h"
#include "launcher/transport/session/wire_time.h"

namespace sml::attempt {

using transport::AgentPlace;

// Come: further hosts may get workers while those of the first hosts run.
enum class HostsMay : std::uint8_t { Stay, Come };

struct SessionSettings {
  transport::HeartbeatLossPolicy heartbeat_loss;
  Duration start_timeout = std::chrono::seconds(60);
  std::uint64_t output_window = 0;        // bytes of output that an agent may send before it gets more credit
  std::vector<std::string> interfaces{};  // network interfaces that the workers must use; empty: any
  wire::StderrPipe stderr_pipe = wire::StderrPipe::Own;
  wire::StdoutEnd stdout_end = wire::StdoutEnd::Pipe;
  wire::ResultPipe result_pipe = wire::ResultPipe::No;
  UsageLook usage = UsageLook::Yes;
  std::vector<std::string> preload{};  // Python modules to import before the start
  plan::RankMonitor monitor{};
  wire::TorchTraces torch_traces = wire::TorchTraces::No;
  std::function<bool(Rank)> wants_stdin;  // whether the rank gets the launcher's stdin; empty: no rank does
  HostsMay hosts = HostsMay::Stay;
  wire::AcceleratorLook accelerators = wire::AcceleratorLook::No;
  ScratchRule scratch = ScratchRule::Removed;
};

// Returns the settings that the options define. The coordinator and the hosts that call it must derive the same
// settings: each compares those of the other with its own. `options` outlives the result.
SessionSettings settings_for(const JobOptions& options, const plan::JobMap& map);
// The same for a check of the hosts, which starts nothing.
SessionSettings settings_for_check(const JobOptions& options, const plan::JobMap& map);

// Whether the rank gets the launcher's stdin.
bool wants_stdin(const JobOptions& options, Rank rank);

// Whether workers of the attempt may outlive others, as with hvd.elastic. No with hosts that call: they run only what
// they were started with.
bool is_elastic(const JobOptions& options, const plan::LaunchPlan& plan);

// The number of hosts that may have workers in some attempt of the run; the same in each attempt.
std::size_t hosts_that_print(const plan::JobMap& map);

// The output window: the bytes of output that each of `hosts` hosts may send without further credit. It is the host's
// share of what the launcher buffers for a slow reader, within fixed bounds.
std::uint64_t output_window(std::size_t hosts);
// The part of the output window that a host gets before it is known to be another machine. It fits into the pipe to an
// agent of this machine, so that such an agent never finds the pipe full.
std::uint64_t first_output_window(std::size_t hosts);

// Names of the variables that look like secrets and therefore do not reach the workers of other hosts.
std::vector<std::string> withheld_secrets(const plan::LaunchPlan& plan);

// One per host with ranks, in host order. Rank 0's host is the first: it reserves the rendezvous port.
std::vector<transport::AgentSession::Plan> session_plans(const plan::LaunchPlan& plan, const SessionSettings& settings);

// The variables of presets for each rank of the host; none without presets.
std::vector<wire::RankVariables> preset_variables(const plan::LaunchPlan& plan, const plan::MappedHost& host,
                                                  const plan::PresetFacts& facts);

// The session plan of a host that is to wait: its agent looks for the programs and has nothing to start.
transport::AgentSession::Plan spare_plan(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                         const SessionSettings& settings);
// One per spare host.
std::vector<transport::AgentSession::Plan> spare_plans(const plan::LaunchPlan& plan, const SessionSettings& settings);

}  // namespace sml::attempt
