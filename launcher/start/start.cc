#include "launcher/start/start.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "common/os/fd.h"
#include "common/plan/environment/rendezvous_variables.h"
#include "launcher/dialin/coordinator/quorum.h"
#include "launcher/dialin/setup.h"
#include "launcher/fleet/make_launcher.h"
#include "launcher/inputs/inputs.h"
#include "launcher/inputs/nested_launcher.h"
#include "launcher/os/terminal_size.h"
#include "launcher/run/check/check.h"
#include "launcher/run/run.h"
#include "launcher/start/call_hosts.h"
#include "launcher/start/refusal.h"
#include "launcher/start/run_peer.h"
#include "launcher/start/show_plan.h"

namespace sml {

namespace {

// Checked before connecting to any host: without descriptors, name lookups and reading keys fail with misleading
// messages.
Result<void> enough_descriptors(const plan::LaunchPlan& plan, const Options& options) {
  constexpr std::uint32_t kOwn = 16;
  const std::uint32_t hosts = plan.map.group_world_size() + static_cast<std::uint32_t>(plan.map.spares());
  const std::uint32_t needed =
      kOwn + fleet::descriptors_per_host(plan, options.ssh) * hosts + std::min(hosts, options.ssh.fanout);
  const unsigned long limit = os::descriptor_limit();
  if (needed <= limit) return {};
  return Error(ErrorKind::Io, std::to_string(hosts) + (hosts == 1 ? " host needs " : " hosts need ") +
                                  std::to_string(needed) + " open files, the limit is " + std::to_string(limit))
      .with_hint("raise it (ulimit -Hn), or lower --fanout");
}

// How this host reaches the others.
struct HostAccess {
  std::string own_name;  // as the list of hosts has this machine, if it has another name than its own; may be empty
  std::optional<dialin::CoordinatorPlan> head;  // nullopt: no other host calls
};

// The things that the steps of a start work on.
struct Start {
  const Training& training;
  ThisHost& here;
  HostFinder& finder;
  const transport::AgentImage& image;
  boost::asio::io_context& loop;
  Installer& installer;
};

std::unique_ptr<transport::AgentLauncher> launcher_of_agents(const Start& start, const Options& options,
                                                             const plan::LaunchPlan& plan, HostAccess access) {
  return fleet::make_launcher(start.loop.get_executor(), start.image, plan, access.own_name, options.ssh,
                              std::move(access.head));
}

// Writes the findings to stdout and the faults to stderr.
int check(const Start& start, const Options& options, const plan::LaunchPlan& plan, HostAccess access) {
  const Result<run::RankLogs> logs = run::RankLogs::plan(options.logs, options.output, plan);
  if (!logs) return refuse(logs.error());
  if (options.verbosity != Verbosity::Quiet) print(one_line_about(plan));
  const std::string about_start = line_about_start(plan, options);
  if (options.verbosity != Verbosity::Quiet && !about_start.empty()) print(about_start);
  os::raise_descriptor_limit();
  if (Result<void> enough = enough_descriptors(plan, options); !enough) return refuse(enough.error());
  if (Result<void> opened = open_port(access.head); !opened) return refuse(opened.error());
  const Result<report::CheckReport> found =
      run::Check(start.loop, options, plan, start.image, *logs,
                 launcher_of_agents(start, options, plan, std::move(access)), print)
          .run();
  if (!found) return refuse(found.error());
  const bool json = options.format == PlanFormat::Json;
  const bool printed = os::write_all(
      STDOUT_FILENO, json ? check_json(*found) + "\n" : check_table(*found, os::terminal_columns(STDOUT_FILENO)));
  if (options.verbosity != Verbosity::Quiet) {
    for (const std::string& warning : check_warnings(*found)) print("warning: " + warning);
  }
  const report::JobOutcome verdict = judge(*found);
  for (const std::string& line : verdict.lines) print(line);
  if (verdict.exit_code == 0 && options.verbosity != Verbosity::Quiet) print("the job would start");
  return verdict.exit_code == 0 && !printed ? 1 : verdict.exit_code;
}

// The plan after several hosts have turned out to be one machine. Does not repeat warnings of `before`.
Result<plan::LaunchPlan> plan_anew(const Options& options, ThisHost& here, HostFinder& finder,
                                   const plan::LaunchPlan& before, std::span<const hosts::MachineNames> machines) {
  hosts::add_machines(here.found.machines, {machines.begin(), machines.end()});
  Result<plan::LaunchPlan> plan = make_plan(options, here, finder, before.torch_store);
  if (!plan) return plan;
  for (const std::string& warning : plan->warnings) {
    if (std::find(before.warnings.begin(), before.warnings.end(), warning) == before.warnings.end())
      print("warning: " + warning);
  }
  if (options.display_map) os::write_all(STDERR_FILENO, to_table(*plan));
  if (options.verbosity != Verbosity::Quiet) print(one_line_about(*plan));
  return plan;
}

// Runs the job from this host.
int run_job(const Start& start, const Options& options, const plan::LaunchPlan& plan, HostAccess access) {
  Result<run::Records> records = run::Records::open(options, plan);
  if (!records) return fail(options, records.error());
  if (options.verbosity != Verbosity::Quiet) print(one_line_about(plan));
  const std::string about_start = line_about_start(plan, options);
  if (options.verbosity == Verbosity::Verbose && !about_start.empty()) print(about_start);
  const std::string logs = records->logs().own_folder(plan.job.job_id);
  if (!logs.empty() && options.verbosity != Verbosity::Quiet)
    print("the workers' output is written to files in " + logs);
  os::raise_descriptor_limit();
  if (Result<void> enough = enough_descriptors(plan, options); !enough) return fail(options, enough.error());
  if (Result<void> opened = open_port(access.head); !opened) return fail(options, opened.error());
  if (!access.head) {
    if (Result<void> installed = start.installer.run(); !installed) return fail(options, installed.error());
  }
  const auto replan = [&](std::span<const hosts::MachineNames> machines) {
    return plan_anew(options, start.here, start.finder, plan, machines);
  };
  run::SystemProcess process;
  const std::weak_ptr<dialin::Coordinator> called = access.head ? access.head->opened : nullptr;
  return run::Run({.loop = start.loop,
                   .image = start.image,
                   .process = process,
                   .agent_launcher = launcher_of_agents(start, options, plan, std::move(access)),
                   .head = called},
                  options, plan, std::move(*records), replan)
      .run();
}

int start_here(const Start& start, const Options& options, const plan::LaunchPlan& plan, HostAccess access) {
  return options.check == Preflight::No ? run_job(start, options, plan, std::move(access))
                                        : check(start, options, plan, std::move(access));
}

// The head's part in a job that is planned when its hosts have called: waits for them, and then starts the job. Sends
// an error to the hosts that wait.
int gather_hosts(const Start& start, const SettledOptions& settled, dialin::AgreedSettings met,
                 transport::PreLaunchTask* task, const PlanOfHosts& plan_of_hosts) {
  const Options& options = settled.get();
  const dialin::Settings& settings = met.settings;
  std::optional<dialin::CoordinatorPlan> head =
      dialin::CoordinatorPlan{settings, std::move(met.listener), options.heartbeat_timeout};
  if (Result<void> opened = open_port(head); !opened) return fail(options, opened.error());
  const bool may_wait = options.restart.max > 0 && options.dial_in.least;
  const auto latecomers = may_wait ? dialin::Latecomers::Wait : dialin::Latecomers::TurnedAway;
  dialin::Quorum quorum(start.loop, settings, options.start_timeout, latecomers, print);
  const Result<std::uint32_t> count = quorum.run(std::move(*head));
  if (!count) {
    fail(options, count.error());
    return quorum.exit_code();
  }
  const plan::HostShares shares = quorum.shares();
  const Result<plan::LaunchPlan> plan = plan_of_hosts(*count, shares);
  if (!plan) {
    quorum.give_up(plan.error());
    return fail(options, plan.error());
  }
  const SettledOptions gathered = settled.gathered(*count, shares);
  const bool alone = *count == 1 && gathered.get().restart.discovery.callers == DiscoveryOptions::Callers::AtStart;
  HostAccess access{settings.hosts.front(), std::nullopt};
  if (!alone) {
    access.head =
        dialin::CoordinatorPlan{settings, os::UniqueFd(), options.heartbeat_timeout, task, quorum.take_head()};
  }
  return start_here(start, gathered.get(), *plan, std::move(access));
}

// Finds the other hosts of the job, which call each other, and then has this host do its part. `first`: the plan for
// the maximum number of hosts.
int join_hosts(const Start& start, const SettledOptions& settled, plan::LaunchPlan first, dialin::Settings chosen) {
  const Options& options = settled.get();
  Result<dialin::AgreedSettings> met = meet_others(std::move(chosen), options, start.here);
  if (!met) return fail(options, met.error());
  const dialin::Settings& settings = met->settings;
  for (const std::string* words : {&settings.advice, &settings.part}) {
    if (options.verbosity != Verbosity::Quiet && !words->empty()) print(*words);
  }
  const plan::LaunchPlan plan = plan_of_calling_host(std::move(first), start.training);
  const PlanOfHosts plan_of_hosts = [&](std::uint32_t hosts,
                                        const plan::HostShares& shares) -> Result<plan::LaunchPlan> {
    Result<plan::LaunchPlan> other =
        make_plan(options_for_hosts(options, hosts, shares), start.here, start.finder, plan.torch_store);
    if (!other) return other;
    return plan_of_calling_host(std::move(*other), start.training);
  };
  const bool works = !plan.map.hosts[settings.own_index].ranks.empty();
  const bool installs = works && !start.installer.empty() && options.check == Preflight::No;
  transport::PreLaunchTask* task = installs ? &start.installer : nullptr;
  if (settings.own_index != 0) return run_peer(options, plan, settings, start.image, task, plan_of_hosts, print);
  if (settings.least_hosts) return gather_hosts(start, settled, std::move(*met), task, plan_of_hosts);
  HostAccess access{settings.hosts.front(), std::nullopt};
  if (settings.hosts.size() > 1) {
    access.head = dialin::CoordinatorPlan{settings, std::move(met->listener), options.heartbeat_timeout, task};
  }
  return start_here(start, options, plan, std::move(access));
}

}  // namespace

int start_job(const SettledOptions& settled, const Training& training, ThisHost& here, HostFinder& finder) {
  const Options& options = settled.get();
  Result<plan::LaunchPlan> plan = make_plan(options, here, finder);
  if (!plan) return fail_for_all(options, here, finder, plan.error());
  for (const std::string& ignored : plan::ignored_variables(*plan)) print("warning: " + ignored);
  for (const std::string& warning : plan->warnings) print("warning: " + warning);
  const bool of_platform = options.mode == Mode::Train || plan->host_source.find("resourceconfig") != std::string::npos;
  if (options.verbosity != Verbosity::Quiet && !of_platform) {
    for (const std::string& launcher : warnings_of_launchers(*plan)) print("warning: " + launcher);
  }
  if (const std::optional<int> shown = show_plan(options, *plan)) return *shown;
  if (takes_no_part(options, training, *plan)) {
    if (options.verbosity != Verbosity::Quiet) print("this host takes no part in the job: " + one_line_about(*plan));
    return 0;
  }
  const Result<transport::AgentImage> image = agent_image(options);
  if (!image) return fail(options, image.error());
  Result<std::optional<dialin::Settings>> dial_in = choose_dial_in(options, training, *plan, here, build_of(*image));
  if (!dial_in) return fail(options, dial_in.error());
  Installer installer(training, here);
  // Never destroyed: a thread that looks up a name, and that nothing can interrupt, may post to it until the process
  // ends.
  static boost::asio::io_context loop{1};
  const Start start{training, here, finder, *image, loop, installer};
  if (*dial_in) return join_hosts(start, settled, std::move(*plan), std::move(**dial_in));
  const std::string& own_name = plan->calls ? plan->calls->own_name : training.own_name;
  return start_here(start, options, *plan, {own_name, std::nullopt});
}

}  // namespace sml
