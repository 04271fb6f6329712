#include "launcher/attempt/session_plans.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>

#include <sys/resource.h>

#include "common/plan/environment/kept_back.h"
#include "common/plan/environment/secrets.h"

namespace sml::attempt {

using transport::milliseconds;

namespace {

constexpr std::uint64_t kTotalWindow = std::uint64_t{8} << 20;
constexpr std::uint64_t kMaxWindow = std::uint64_t{2} << 20;
constexpr std::uint64_t kMaxFirstWindow = std::uint64_t{768} << 10;
constexpr std::uint64_t kMinWindow = std::uint64_t{64} << 10;

wire::App app_for(const plan::LaunchPlan& plan, const plan::Program& program, plan::BaseEnvironment base) {
  wire::App app{.argv = program.command,
                .working_directory = program.working_directory,
                .base = base,
                .launcher_environment = {},
                .user_environment = program.user_environment,
                .world = plan.job.world,
                .local_rank_at = program.local_rank_at,
                .search_path = program.search_path};
  if (base == plan::BaseEnvironment::Launcher) app.launcher_environment = plan.launcher_environment;
  if (base == plan::BaseEnvironment::LauncherOverLogin) {
    app.launcher_environment = plan::for_other_hosts(plan.launcher_environment);
    if (plan.secrets == plan::SecretExport::Withheld) {
      std::erase_if(app.launcher_environment, plan::holds_a_secret);
    }
  }
  return app;
}

// The programs of the host's ranks from `first` on, and no others: other programs need not exist on this host.
std::vector<std::uint32_t> programs_of(const plan::MappedHost& host, const plan::JobMap& map, Rank first = Rank(0)) {
  std::vector<std::uint32_t> out;
  for (const Rank rank : host.ranks) {
    if (rank < first) continue;
    const std::uint32_t program = map.ranks[rank.value()].program;
    if (std::find(out.begin(), out.end(), program) == out.end()) out.push_back(program);
  }
  return out;
}

std::vector<wire::Worker> workers_of(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                     const SessionSettings& settings) {
  std::vector<wire::Worker> out;
  const std::vector<std::uint32_t> programs = programs_of(host, plan.map);
  for (const Rank rank : host.ranks) {
    const plan::RankAssignment& assignment = plan.map.ranks[rank.value()];
    // The first attempt has consumed the input.
    const bool wants_stdin = plan.job.attempt == 0 && settings.wants_stdin && settings.wants_stdin(rank);
    const auto app = std::find(programs.begin(), programs.end(), assignment.program) - programs.begin();
    out.push_back({.rank = rank,
                   .local_rank = assignment.local_rank,
                   .app = static_cast<std::uint32_t>(app),
                   .stdin_source = wants_stdin ? wire::StdinSource::Launcher : wire::StdinSource::Null,
                   .environment = plan::rank_environment(plan.map, assignment, plan.job),
                   .cores = plan.map.cores.empty() ? std::string() : plan.map.cores[rank.value()],
                   .stderr_pipe = settings.stderr_pipe,
                   .stdout_end = settings.stdout_end,
                   .result_pipe = settings.result_pipe});
  }
  return out;
}

// Ranks that serve the others do not read.
plan::FifoPlan fifos_of(const plan::MappedHost& host, const plan::LaunchPlan& plan) {
  plan::FifoPlan out{plan.fifos, {}};
  for (const Rank rank : host.ranks) {
    if (plan.map.ranks[rank.value()].part == plan::Part::Worker) out.readers.push_back(rank);
  }
  return out;
}

std::vector<plan::HostChannel> channels_of(const plan::MappedHost& host, const plan::LaunchPlan& plan) {
  std::vector<plan::HostChannel> out;
  for (const plan::Channel& channel : plan.channels) {
    out.push_back({channel.name, channel.folder, channel.order, {}});
    for (const Rank rank : host.ranks) {
      out.back().shares.push_back(plan::share_of(channel, plan.map, plan.map.ranks[rank.value()]));
    }
  }
  return out;
}

// A host without a member of the world needs no PMI service.
wire::MpiPlan mpi_of(const plan::MappedHost& host, const plan::LaunchPlan& plan, const plan::JobShape& shape) {
  wire::MpiPlan out;
  if (plan.map.world_size() > 1 && plan.job.world == plan::WorldTold::Yes) out.look = wire::MpiLook::Yes;
  const std::optional<plan::RankRun> first = shape.run_of(host.ranks.front());
  if (plan.mpi == plan::PmiMode::None || !first) return out;
  out.pmi_mode = plan.mpi;
  out.host = first->host;
  out.shape = shape;
  // A rank that is alone may still ask for more.
  if (plan.oversubscribe == plan::Oversubscribe::Yes) out.shape.slots = std::max(out.shape.slots, 2U);
  if (plan.slot_limit == plan::LaunchPlan::SlotLimit::None) out.shape.universe = 0;
  out.pmix_library = plan.pmix_library;
  out.name_space = plan.job.name_space;
  return out;
}

// The stores of the first host with ranks.
std::vector<wire::ServiceRequest> stores_for(const plan::JobMap& map, HostsMay hosts) {
  const auto has_ranks = [](const plan::MappedHost& host) { return !host.ranks.empty(); };
  const bool alone = std::count_if(map.hosts.begin(), map.hosts.end(), has_ranks) == 1;
  const auto reach = alone && hosts == HostsMay::Stay ? wire::ServiceReach::ThisMachine : wire::ServiceReach::Network;
  return {{wire::ServiceKind::TorchStore, reach}, {wire::ServiceKind::HorovodStore, reach}};
}

wire::Hello hello_for(const plan::MappedHost& host, const plan::LaunchPlan& plan, const SessionSettings& settings) {
  return {.version = wire::kProtocolVersion,
          .job_id = plan.job.job_id,
          .host = host.host.name,
          .heartbeat_timeout_ms = milliseconds(settings.heartbeat_loss.silence),
          .grace_ms = milliseconds(settings.heartbeat_loss.grace),
          .credit = settings.output_window,
          .scratch = settings.scratch};
}

transport::AgentSession::Plan session_for(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                          const SessionSettings& settings) {
  return {.host = host.id,
          .name = host.host.name,
          .hello = hello_for(host, plan, settings),
          .start_limit_s = (milliseconds(settings.start_timeout) + 999) / 1000};
}

// The same for every host.
wire::Prepare common_prepare(const plan::LaunchPlan& plan, const SessionSettings& settings) {
  wire::Prepare out;
  out.attempt = plan.job.attempt + 1;
  out.restarts = plan.job.restarts;
  out.interfaces = settings.interfaces;
  out.accelerators = settings.accelerators;
  if (!plan.calls) return out;
  for (const plan::MappedHost& other : plan.map.hosts) {
    out.order.push_back(other.id);
    if (other.duty != plan::HostDuty::Work) out.idle.push_back(other.id);
  }
  return out;
}

plan::BaseEnvironment remote_base(const plan::LaunchPlan& plan) {
  return plan.export_policy == plan::ExportPolicy::All ? plan::BaseEnvironment::LauncherOverLogin
                                                       : plan::BaseEnvironment::Login;
}

// Slurm's own launchers give all hosts the batch script's settings. Elsewhere the login's settings apply; on this host,
// though, the limit on open files must be restored, which the launcher has raised for itself. Hosts that call have
// their own settings.
ProcessSettings inherited(const plan::LaunchPlan& plan, AgentPlace place) {
  const ProcessSettings& own = plan.launcher_process;
  if (!plan.calls && plan::is_of_slurm_job(plan.launcher_environment)) return own;
  ProcessSettings out;
  if (place == AgentPlace::Remote) return out;
  std::copy_if(own.limits.begin(), own.limits.end(), std::back_inserter(out.limits),
               [](const SoftLimit& one) { return one.resource == RLIMIT_NOFILE; });
  return out;
}

plan::BaseEnvironment base_at(AgentPlace place, const plan::LaunchPlan& plan) {
  return place == AgentPlace::ThisMachine ? plan::BaseEnvironment::Launcher : remote_base(plan);
}

// Adds what depends on the place of the agent: the programs, and the settings of processes.
wire::Prepare finished(wire::Prepare prepare, const std::vector<std::uint32_t>& programs, const plan::LaunchPlan& plan,
                       AgentPlace place) {
  prepare.inherited = inherited(plan, place);
  for (const std::uint32_t index : programs) {
    prepare.apps.push_back(app_for(plan, plan.program(index), base_at(place, plan)));
  }
  wire::pack_environments(prepare.apps, prepare.workers);
  return prepare;
}

using MakePrepare = std::function<wire::Prepare(AgentPlace)>;

// Makes both messages at once and keeps them: for the few hosts that are spare, join or come late.
MakePrepare made_now(const wire::Prepare& prepare, const std::vector<std::uint32_t>& programs,
                     const plan::LaunchPlan& plan) {
  return [here = finished(prepare, programs, plan, AgentPlace::ThisMachine),
          there = finished(prepare, programs, plan, AgentPlace::Remote)](AgentPlace place) {
    return place == AgentPlace::ThisMachine ? here : there;
  };
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

}  // namespace

std::size_t hosts_that_print(const plan::JobMap& map) {
  const auto prints = [](const plan::MappedHost& host) {
    return !host.ranks.empty() || host.duty != plan::HostDuty::Work;
  };
  return static_cast<std::size_t>(std::count_if(map.hosts.begin(), map.hosts.end(), prints));
}

std::vector<std::string> withheld_secrets(const plan::LaunchPlan& plan) {
  if (plan.export_policy == plan::ExportPolicy::None || plan.secrets == plan::SecretExport::Sent) return {};
  std::vector<std::string> names = plan::withheld_secrets(plan.launcher_environment);
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

namespace {

transport::HeartbeatLossPolicy heartbeat_loss(const JobOptions& options) {
  const auto rule =
      options.restart.outlives_hosts() ? transport::policy_before_replacement : transport::policy_until_job_end;
  return rule(options.heartbeat_timeout, options.grace);
}

}  // namespace

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

namespace {

wire::PreloadRequest preload_of(const SessionSettings& settings) {
  return {.modules = settings.preload, .limit_ms = milliseconds(settings.start_timeout)};
}

// For a host with workers; without services and, so far, without programs.
wire::Prepare working_prepare(wire::Prepare out, const plan::MappedHost& host, const plan::LaunchPlan& plan,
                              const plan::JobShape& shape, const SessionSettings& settings) {
  out.workers = workers_of(host, plan, settings);
  out.binding = plan.binding;
  out.devices = plan.devices;
  if (!plan.fifos.empty()) out.fifos = fifos_of(host, plan);
  out.channels = channels_of(host, plan);
  out.mpi = mpi_of(host, plan, shape);
  out.usage = settings.usage;
  out.monitor = settings.monitor;
  out.torch_traces = settings.torch_traces;
  if (!settings.preload.empty()) out.preload = preload_of(settings);
  return out;
}

// The plan that the hosts' sessions share until each has made its Prepare.
struct PlannedJob {
  plan::LaunchPlan plan;
  SessionSettings settings;
  plan::JobShape shape;
  wire::Prepare common;
};

}  // namespace

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

transport::AgentSession::Plan joining_plan(HostIndex index, const plan::LaunchPlan& plan, const plan::JobMap& world,
                                           const SessionSettings& settings) {
  const std::uint32_t first = plan.map.world_size() - world.world_size();
  plan::MappedHost host = plan.map.hosts[index.value()];
  std::erase_if(host.ranks, [first](Rank rank) { return rank.value() < first; });
  transport::AgentSession::Plan session = session_for(host, plan, settings);
  wire::Prepare prepare =
      working_prepare(common_prepare(plan, settings), host, plan, plan::shape_of(plan.map), settings);
  for (wire::Worker& worker : prepare.workers) {
    worker.stdin_source = wire::StdinSource::Null;
    worker.local_rank = world.ranks[worker.rank.value() - first].local_rank;
  }
  session.prepare = made_now(prepare, programs_of(host, plan.map), plan);
  return session;
}

std::vector<plan::Program> spawned_programs(const plan::LaunchPlan& plan, Rank asks,
                                            const std::vector<plan::SpawnProgram>& programs) {
  const plan::Program& own = plan.program(plan.map.ranks[asks.value()].program);
  std::vector<plan::Program> out;
  for (const plan::SpawnProgram& wanted : programs) {
    plan::Program& program = out.emplace_back(own);
    program.command = wanted.command;
    program.search_path = wanted.search_path;
    program.local_rank_at = 0;
    const std::string& folder = wanted.working_directory;
    if (folder.empty()) continue;
    program.working_directory = folder.starts_with('/') ? folder : own.working_directory + "/" + folder;
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

AddedWorld added_world(const plan::LaunchPlan& plan, const plan::JobMap& world, const SessionSettings& settings,
                       const std::function<std::optional<AgentPlace>(HostIndex)>& place) {
  const std::uint32_t first = plan.map.world_size() - world.world_size();
  plan::JobShape shape = plan::shape_of(world);
  shape.universe = std::max(plan::shape_of(plan.map).universe, shape.size());  // of the job
  if (plan.slot_limit == plan::LaunchPlan::SlotLimit::None) shape.universe = 0;
  AddedWorld out;
  for (std::uint32_t h = 0; h < world.hosts.size(); ++h) {
    plan::MappedHost host = world.hosts[h];
    const std::optional<AgentPlace> where = place(HostIndex(h));
    if (host.ranks.empty() && !where) continue;
    wire::AddWorkers message{.attempt = plan.job.attempt + 1,
                             .service = wire::WireUp::Pmi,
                             .first = Rank(first),
                             .apps = {},
                             .workers = {},
                             .shape = shape,
                             .keys = {}};
    for (Rank& rank : host.ranks) rank = Rank(rank.value() + first);
    const auto base = base_at(where.value_or(AgentPlace::Remote), plan);
    for (const std::uint32_t index : programs_of(host, plan.map)) {
      message.apps.push_back(app_for(plan, plan.program(index), base));
    }
    message.workers = workers_of(host, plan, settings);
    for (wire::Worker& worker : message.workers) {  // its place in its own world
      worker.stdin_source = wire::StdinSource::Null;
      const plan::RankAssignment& own = world.ranks[worker.rank.value() - first];
      worker.environment = plan::rank_environment(world, own, plan.job);
    }
    wire::pack_environments(message.apps, message.workers);
    out.hosts.emplace_back(h);
    out.messages.push_back(std::move(message));
  }
  return out;
}

transport::AgentSession::Plan late_plan(HostIndex index, const plan::LaunchPlan& plan, Rank first,
                                        const SessionSettings& settings, wire::WireUp service) {
  const plan::MappedHost& host = plan.map.hosts[index.value()];
  transport::AgentSession::Plan session = session_for(host, plan, settings);
  wire::Prepare prepare = common_prepare(plan, settings);
  prepare.binding = plan.binding;
  prepare.usage = settings.usage;
  prepare.mpi.pmi_mode = plan.mpi;
  prepare.mpi.shape = plan::shape_of(plan.map);
  prepare.mpi.host = static_cast<std::uint32_t>(prepare.mpi.shape.hosts.size()) + index.value();
  prepare.mpi.pmix_library = plan.pmix_library;
  prepare.mpi.name_space = plan.job.name_space;
  prepare.mpi.late = {wire::Workers::Spawned, service, plan.job.job_id, host.host.name};
  session.prepare = made_now(prepare, programs_of(host, plan.map, first), plan);
  return session;
}

namespace {

std::uint32_t ranks_of_a_host(const plan::JobMap& map) {
  const auto runs = [](const plan::MappedHost& host) { return !host.ranks.empty(); };
  const auto first = std::find_if(map.hosts.begin(), map.hosts.end(), runs);
  return first == map.hosts.end() ? 0 : static_cast<std::uint32_t>(first->ranks.size());
}

}  // namespace

transport::AgentSession::Plan spare_plan(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                         const SessionSettings& settings) {
  transport::AgentSession::Plan session = session_for(host, plan, settings);
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
  session.prepare = made_now(prepare, programs, plan);
  return session;
}

std::vector<transport::AgentSession::Plan> spare_plans(const plan::LaunchPlan& plan, const SessionSettings& settings) {
  std::vector<transport::AgentSession::Plan> out;
  for (const plan::MappedHost& host : plan.map.hosts) {
    if (host.duty == plan::HostDuty::Spare) out.push_back(spare_plan(host, plan, settings));
  }
  return out;
}

}  // namespace sml::attempt
