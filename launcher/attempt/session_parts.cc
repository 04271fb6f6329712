#include "launcher/attempt/session_parts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <sys/resource.h>

#include "common/plan/environment/kept_back.h"
#include "common/plan/environment/secrets.h"

namespace sml::attempt {

using transport::milliseconds;

namespace {

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

// A log-in to a busy host may take this long. The agent does not wait longer, because it cannot distinguish a broken
// connection from a launcher that was killed.
constexpr Duration kReconnectTime = std::chrono::seconds(5);

wire::Hello hello_for(const plan::MappedHost& host, const plan::LaunchPlan& plan, const SessionSettings& settings) {
  return {.job_id = plan.job.job_id,
          .host = host.host.name,
          .heartbeat_timeout_ms = milliseconds(settings.heartbeat_loss.silence),
          .grace_ms = milliseconds(settings.heartbeat_loss.grace),
          .credit = settings.output_window,
          .hold_ms = milliseconds(std::min<Duration>(settings.heartbeat_loss.silence, kReconnectTime)),
          .scratch = settings.scratch};
}

}  // namespace

std::vector<std::uint32_t> programs_of(const plan::MappedHost& host, const plan::JobMap& map, Rank first) {
  std::vector<std::uint32_t> out;
  for (const Rank rank : host.ranks) {
    if (rank < first) continue;
    const std::uint32_t program = map.ranks[rank.value()].program;
    if (std::find(out.begin(), out.end(), program) == out.end()) out.push_back(program);
  }
  return out;
}

std::vector<wire::App> apps_of(const std::vector<std::uint32_t>& programs, const plan::LaunchPlan& plan,
                               AgentPlace place) {
  std::vector<wire::App> out;
  for (const std::uint32_t index : programs) out.push_back(app_for(plan, plan.program(index), base_at(place, plan)));
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

wire::PreloadRequest preload_of(const SessionSettings& settings) {
  return {.modules = settings.preload, .limit_ms = milliseconds(settings.start_timeout)};
}

wire::Prepare working_prepare(wire::Prepare common, const plan::MappedHost& host, const plan::LaunchPlan& plan,
                              const plan::JobShape& shape, const SessionSettings& settings) {
  wire::Prepare out = std::move(common);
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

wire::Prepare finished(wire::Prepare prepare, const std::vector<std::uint32_t>& programs, const plan::LaunchPlan& plan,
                       AgentPlace place) {
  prepare.inherited = inherited(plan, place);
  prepare.apps = apps_of(programs, plan, place);
  wire::pack_environments(prepare.apps, prepare.workers);
  return prepare;
}

transport::AgentSession::Plan session_for(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                          const SessionSettings& settings) {
  return {.host = host.id,
          .name = host.host.name,
          .hello = hello_for(host, plan, settings),
          .start_limit_s = (milliseconds(settings.start_timeout) + 999) / 1000};
}

transport::AgentSession::Plan session_for(const plan::MappedHost& host, const plan::LaunchPlan& plan,
                                          const SessionSettings& settings, const wire::Prepare& prepare,
                                          const std::vector<std::uint32_t>& programs) {
  transport::AgentSession::Plan out = session_for(host, plan, settings);
  out.prepare = [here = finished(prepare, programs, plan, AgentPlace::ThisMachine),
                 there = finished(prepare, programs, plan, AgentPlace::Remote)](AgentPlace place) {
    return place == AgentPlace::ThisMachine ? here : there;
  };
  return out;
}

}  // namespace sml::attempt
