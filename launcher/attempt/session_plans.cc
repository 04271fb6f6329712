#include "launcher/attempt/session_plans.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "common/plan/environment/secrets.h"
#include "launcher/attempt/session_parts.h"

namespace sml::attempt {

namespace {

constexpr std::uint64_t kTotalWindow = std::uint64_t{8} << 20;
constexpr std::uint64_t kMaxWindow = std::uint64_t{2} << 20;
constexpr std::uint64_t kMaxFirstWindow = std::uint64_t{768} << 10;
constexpr std::uint64_t kMinWindow = std::uint64_t{64} << 10;

// The stores of the first host with ranks.
std::vector<wire::ServiceRequest> stores_for(const plan::JobMap& map, HostsMay hosts) {
  const auto has_ranks = [](const plan::MappedHost& host) { return !host.ranks.empty(); };
  const bool alone = std::count_if(map.hosts.begin(), map.hosts.end(), has_ranks) == 1;
  const auto reach = alone && hosts == HostsMay::Stay ? wire::ServiceReach::ThisMachine : wire::ServiceReach::Network;
  return {{wire::ServiceKind::TorchStore, reach}, {wire::ServiceKind::HorovodStore, reach}};
}

wire::StderrPipe stderr_pipe_of(const JobOptions& options) {
  return options.stderr_of_workers == StderrOfWorkers::Apart ? wire::StderrPipe::Own : wire::StderrPipe::OfStdout;
}

wire::StdoutEnd stdout_end_of(const JobOptions& options) {
  return options.stdout_of_workers == StdoutOfWorkers::Pipe ? wire::StdoutEnd::Pipe : wire::StdoutEnd::Terminal;
}

wire::TorchTraces torch_traces_of(const JobOptions& options) {
  return options.progress.hang_folder.empty() ? wire::TorchTraces::No : wire::TorchTraces::Yes;
}

transport::HeartbeatLossPolicy heartbeat_loss(const JobOptions& options) {
  const auto rule =
      options.restart.outlives_hosts() ? transport::policy_before_replacement : transport::policy_until_job_end;
  return rule(options.heartbeat_timeout, options.grace);
}

// The plan that the hosts' sessions share until each has made its Prepare.
struct PlannedJob {
  plan::LaunchPlan plan;
  SessionSettings settings;
  plan::JobShape shape;
  wire::Prepare common;
};

std::uint32_t ranks_of_a_host(const plan::JobMap& map) {
  const auto runs = [](const plan::MappedHost& host) { return !host.ranks.empty(); };
  const auto first = std::find_if(map.hosts.begin(), map.hosts.end(), runs);
  return first == map.hosts.end() ? 0 : static_cast<std::uint32_t>(first->ranks.size());
}

}  // namespace

std::size_t hosts_that_print(const plan::JobMap& map) {
  const auto prints = [](const plan::MappedHost& host) {
    return !host.ranks.empty() || host.duty != plan::HostDuty::Work;
  };
  return static_cast<std::size_t>(std::count_if(map.hosts.begin(), map.hosts.end(), prints));
}

std::vector<std::string> withheld_secrets(const plan::LaunchPlan& plan) {
  if (plan.export_policy == plan::ExportPolicy::None || plan.secrets == plan::SecretExport::Sent) return {};
  std::vector<std::string> names = plan::secrets_for_other_hosts(plan.launcher_environment);
  std::erase_if(names, [&](const std::string& name) {  // true if every program sets the variable by name
    for (std::uint32_t i = 0; i < plan.program_count(); ++i) {
      if (plan::find_variable(plan.program(i).user_environment, name) == nullptr) return false;
    }
    return true;
  });
  return names;
}

std::uint64_t output_window(std::size_t hosts) {
  return std::clamp(kTotalWindow / std::max<std::uint64_t>(hosts, 1), kMinWindow, kMaxWindow);
}

std::uint64_t first_output_window(std::size_t hosts) { return std::min(output_window(hosts), kMaxFirstWindow); }

bool wants_stdin(const JobOptions& options, Rank rank) {
  if (options.stdin_rule == StdinRule::OneRank) return rank == options.stdin_rank;
  return options.stdin_rule == StdinRule::All;
}

bool is_elastic(const JobOptions& options, const plan::LaunchPlan& plan) {
  const bool wanted = options.restart.elastic == Elastic::Horovod && options.restart.max > 0;
  const bool may_outlive = options.on_failure == OnFailure::Abort && options.restart.least.may_shrink();
  return wanted && may_outlive && !plan.calls && plan.map.roles.empty() && plan.map.helpers == 0;
}

SessionSettings settings_for(const JobOptions& options, const plan::JobMap& map) {
  return {.heartbeat_loss = heartbeat_loss(options),
          .start_timeout = options.start_timeout,
          .output_window = first_output_window(hosts_that_print(map)),
          .interfaces = options.interfaces,
          .stderr_pipe = stderr_pipe_of(options),
          .stdout_end = stdout_end_of(options),
          .result_pipe = options.results.file.empty() ? wire::ResultPipe::No : wire::ResultPipe::Yes,
          .usage = options.usage,
          .preload = options.preload,
          .monitor = monitor_of(options.rank_monitor),
          .torch_traces = torch_traces_of(options),
          .wants_stdin = [&options](Rank rank) { return wants_stdin(options, rank); },
          .hosts = options.restart.elastic == Elastic::Horovod ? HostsMay::Come : HostsMay::Stay,
          .accelerators = options.restart.max > 0 ? wire::AcceleratorLook::Yes : wire::AcceleratorLook::No,
          .scratch = options.scratch};
}

SessionSettings settings_for_check(const JobOptions& options, const plan::JobMap& map) {
  SessionSettings settings = settings_for(options, map);
  settings.preload = {};
  settings.accelerators = wire::AcceleratorLook::No;
  settings.wants_stdin = {};
  return settings;
}

std::vector<transport::AgentSession::Plan> session_plans(const plan::LaunchPlan& plan,
                                                         const SessionSettings& settings) {
  const auto job = std::make_shared<const PlannedJob>(
      PlannedJob{plan, settings, plan::shape_of(plan.map), common_prepare(plan, settings)});
  const std::vector<plan::PresetPort> ports = plan::preset_ports(plan.presets, plan.map);
  std::vector<transport::AgentSession::Plan> out;
  for (std::uint32_t i = 0; i < plan.map.hosts.size(); ++i) {
    const plan::MappedHost& host = plan.map.hosts[i];
    if (host.ranks.empty()) continue;
    std::vector<wire::ServiceRequest> services;
    if (out.empty()) services = stores_for(plan.map, settings.hosts);
    const auto here = [i](const plan::PresetPort& port) { return port.host == HostIndex(i); };
    const auto worker_ports = static_cast<std::size_t>(std::count_if(ports.begin(), ports.end(), here));
    services.resize(services.size() + worker_ports);  // ports reachable from other hosts
    transport::AgentSession::Plan& session = out.emplace_back(session_for(host, plan, settings));
    session.prepare = [job, i, services = std::move(services)](AgentPlace place) {
      const plan::MappedHost& mapped = job->plan.map.hosts[i];
      wire::Prepare prepare = working_prepare(job->common, mapped, job->plan, job->shape, job->settings);
      prepare.services = services;
      return finished(std::move(prepare), programs_of(mapped, job->plan.map), job->plan, place);
    };
  }
  return out;
}

std::vector<wire::RankVariables> preset_variables(const plan::LaunchPlan& plan, const plan::MappedHost& host,
                                                  const plan::PresetFacts& facts) {
  std::vector<wire::RankVariables> out;
  if (plan.presets.empty()) return out;
  for (const Rank rank : host.ranks) {
    const plan::RankAssignment& assignment = plan.map.ranks[rank.value()];
    out.push_back({rank, plan::preset_environment(plan.presets, plan.map, assignment, plan.job, facts)});
  }
  return out;
}

transport::AgentSession::Plan spare_plan(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                         const SessionSettings& settings) {
  wire::Prepare prepare = common_prepare(plan, settings);
  while (!prepare.order.empty() && prepare.order.size() <= host.id.value()) {  // hosts that the plan did not have
    const HostId next(static_cast<std::uint32_t>(prepare.order.size()));
    prepare.idle.push_back(next);
    prepare.order.push_back(next);
  }
  // With several programs it is not known which one comes; and a host that has called compares what it derives itself.
  if (!settings.preload.empty() && plan.program_count() == 1 && !plan.calls) {
    prepare.binding = plan.binding;
    prepare.preload = preload_of(settings);
    prepare.preload.likely = ranks_of_a_host(plan.map);
  }
  std::vector<std::uint32_t> programs(plan.program_count());
  std::iota(programs.begin(), programs.end(), 0U);
  return session_for(host, plan, settings, prepare, programs);
}

std::vector<transport::AgentSession::Plan> spare_plans(const plan::LaunchPlan& plan, const SessionSettings& settings) {
  std::vector<transport::AgentSession::Plan> out;
  for (const plan::MappedHost& host : plan.map.hosts) {
    if (host.duty == plan::HostDuty::Spare) out.push_back(spare_plan(host, plan, settings));
  }
  return out;
}

}  // namespace sml::attempt
