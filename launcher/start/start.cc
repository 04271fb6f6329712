#include "launcher/start/start.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "common/os/fd.h"
#include "common/plan/environment/rendezvous_variables.h"
#include "launcher/dialin/setup.h"
#include "launcher/fleet/make_launcher.h"
#include "launcher/inputs/inputs.h"
#include "launcher/inputs/nested_launcher.h"
#include "launcher/inputs/own_address.h"
#include "launcher/os/terminal_size.h"
#include "launcher/run/check/check.h"
#include "launcher/run/run.h"
#include "launcher/start/call_hosts.h"
#include "launcher/start/refusal.h"
#include "launcher/start/run_peer.h"
#include "launcher/start/show_plan.h"
#include "launcher/starters/starters.h"

namespace sml {

namespace {

// Checked before connecting to any host: without descriptors, name lookups and reading keys fail with misleading
// messages.
Result<void> enough_descriptors(const plan::LaunchPlan& plan, const Options& options) {
  constexpr std::uint32_t kOwn = 16;
  const std::uint32_t hosts = plan.map.group_world_size() + static_cast<std::uint32_t>(plan.map.spares());
  const bool by_ssh = options.ssh.command.empty() && starters::find_starter(plan.start.by) == nullptr;
  const std::uint32_t per_host = by_ssh ? 2 : 3;
  const std::uint32_t needed = kOwn + per_host * hosts + std::min(hosts, options.ssh.fanout);
  const unsigned long limit = os::descriptor_limit();
  if (needed <= limit) return {};
  return Error(ErrorKind::Io, std::to_string(hosts) + (hosts == 1 ? " host needs " : " hosts need ") +
                                  std::to_string(needed) + " open files, the limit is " + std::to_string(limit))
      .with_hint("raise it (ulimit -Hn), or lower --fanout");
}

// Writes the findings to stdout and the faults to stderr.
int check(boost::asio::io_context& loop, const Options& options, const plan::LaunchPlan& plan,
          const transport::AgentImage& image, const std::optional<dialin::Settings>& dial_in,
          std::shared_ptr<dialin::Coordinator> opened, os::UniqueFd listener) {
  const Result<run::RankLogs> logs = run::RankLogs::plan(options.logs, options.output, plan);
  if (!logs) return refuse(logs.error());
  if (options.verbosity != Verbosity::Quiet) print(one_line_about(plan));
  const std::string start = line_about_start(plan, options);
  if (options.verbosity != Verbosity::Quiet && !start.empty()) print(start);
  os::raise_descriptor_limit();
  if (Result<void> enough = enough_descriptors(plan, options); !enough) return refuse(enough.error());
  Result<std::optional<dialin::CoordinatorPlan>> head =
      open_for_hosts(options, dial_in, nullptr, std::move(opened), std::move(listener));
  if (!head) return refuse(head.error());
  const Result<report::CheckReport> found =
      run::Check(loop, options, plan, image, *logs, std::move(*head), print).run();
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

// The agent's store serves only the job's user, starts before the workers and ends after rank 0; but if the program
// names an address of its own, that is preferred.
plan::TorchStore store_asked_for(const Options& given, const plan::LaunchPlan& plan) {
  const bool is_set = given.torch_store_set == SetByUser::Yes || given.torch_store == plan::TorchStore::OfAgent;
  if (is_set) return given.torch_store;
  return plan::usual_torch_store(plan, names_own_address(plan) ? plan::NamesAddress::Yes : plan::NamesAddress::No);
}

// The plan after several hosts have turned out to be one machine. Does not repeat warnings in `printed`, which the plan
// before has caused.
Result<plan::LaunchPlan> plan_anew(const Options& options, ThisHost& here, HostFinder& finder,
                                   const std::vector<std::string>& printed,
                                   std::span<const hosts::MachineNames> machines) {
  hosts::add_machines(here.machines, {machines.begin(), machines.end()});
  Result<plan::LaunchPlan> plan = make_plan(options, here, finder);
  if (!plan) return plan;
  for (const std::string& warning : plan->warnings) {
    if (std::find(printed.begin(), printed.end(), warning) == printed.end()) print("warning: " + warning);
  }
  if (options.display_map) os::write_all(STDERR_FILENO, to_table(*plan));
  if (options.verbosity != Verbosity::Quiet) print(one_line_about(*plan));
  return plan;
}

// The things that the steps of a start work on.
struct Start {
  const Training& training;
  ThisHost& here;
  HostFinder& finder;
  plan::LaunchPlan& plan;
  const transport::AgentImage& image;
  boost::asio::io_context& loop;
  Installer& installer;
};

// The head's side of a job whose hosts call each other.
struct HostsThatCall {
  std::optional<dialin::Quorum> gathering;  // outlives the job
  os::UniqueFd listener;
  transport::PreLaunchTask* task = nullptr;
};

// The plan for `hosts` hosts, if their number may vary, with the shares that they chose.
Result<plan::LaunchPlan> plan_of(std::uint32_t hosts, const plan::HostShares& shares, const Start& start,
                                 const Options& options, const dialin::Settings& settings) {
  Result<plan::LaunchPlan> plan = make_plan(options_for_hosts(options, hosts, shares), start.here, start.finder);
  if (!plan) return plan;
  adapt_plan(*plan, start.training, settings);
  plan->torch_store = start.plan.torch_store;
  return plan;
}

// Waits for the quorum, if the number of hosts may vary. Returns the exit status if the job is over before it begins.
std::optional<int> gather_hosts(const Start& start, const Options& options, dialin::Settings& dial_in,
                                const PlanOfHosts& plan_of_hosts, HostsThatCall& hosts) {
  if (!dial_in.least_hosts) return std::nullopt;
  const bool may_wait = options.restart.max > 0 && options.dial_in.least;
  const auto latecomers = may_wait ? dialin::Latecomers::Wait : dialin::Latecomers::TurnedAway;
  hosts.gathering.emplace(start.loop, dial_in, options.start_timeout, latecomers, print);
  return gather(*hosts.gathering, options, start.plan, dial_in, plan_of_hosts,
                std::exchange(hosts.listener, os::UniqueFd()));
}

// Finds the other hosts of the job. Returns the exit status if this copy is no head, and has served its part.
std::optional<int> join_hosts(const Start& start, const Options& options, dialin::Settings& dial_in,
                              HostsThatCall& hosts) {
  Result<os::UniqueFd> opened = meet_others(dial_in, options, start.here);
  if (!opened) return fail(options, opened.error());
  hosts.listener = std::move(*opened);
  for (const std::string* words : {&dial_in.advice, &dial_in.part}) {
    if (options.verbosity != Verbosity::Quiet && !words->empty()) print(*words);
  }
  const PlanOfHosts plan_of_hosts = [&](std::uint32_t count, const plan::HostShares& shares) {
    return plan_of(count, shares, start, options, dial_in);
  };
  adapt_plan(start.plan, start.training, dial_in);
  const bool works = !start.plan.map.hosts[dial_in.own_index].ranks.empty();
  if (works && !start.installer.empty() && options.check == Preflight::No) hosts.task = &start.installer;
  const bool is_head = dial_in.own_index == 0;
  if (!is_head) return run_peer(options, start.plan, dial_in, start.image, hosts.task, plan_of_hosts, print);
  return gather_hosts(start, options, dial_in, plan_of_hosts, hosts);
}

// Runs the job from this host.
int run_job(const Start& start, const Options& options, const std::optional<dialin::Settings>& dial_in,
            HostsThatCall& hosts) {
  plan::LaunchPlan& plan = start.plan;
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
  Result<std::optional<dialin::CoordinatorPlan>> head =
      open_for_hosts(options, dial_in, hosts.task, head_of(hosts.gathering, options), std::move(hosts.listener));
  if (!head) return fail(options, head.error());
  if (!*head) {
    if (Result<void> installed = start.installer.run(); !installed) return fail(options, installed.error());
  }
  const auto replan = [&options, &here = start.here, &finder = start.finder, own_name = plan.own_name,
                       torch_store = plan.torch_store,
                       printed = plan.warnings](std::span<const hosts::MachineNames> machines) {
    Result<plan::LaunchPlan> anew = plan_anew(options, here, finder, printed, machines);
    if (!anew) return anew;
    anew->own_name = own_name;
    anew->torch_store = torch_store;
    return anew;
  };
  run::SystemProcess process;
  const std::weak_ptr<dialin::Coordinator> called = *head ? (*head)->opened : nullptr;
  auto agent_launcher =
      fleet::make_launcher(start.loop.get_executor(), start.image, plan, options.ssh, std::move(*head));
  return run::Run({.loop = start.loop,
                   .image = start.image,
                   .process = process,
                   .agent_launcher = std::move(agent_launcher),
                   .head = called},
                  options, std::move(plan), std::move(*records), replan)
      .run();
}

int start_here(const Start& start, const Options& options, const std::optional<dialin::Settings>& dial_in,
               HostsThatCall& hosts) {
  if (options.check == Preflight::No) return run_job(start, options, dial_in, hosts);
  return check(start.loop, options, start.plan, start.image, dial_in, head_of(hosts.gathering, options),
               std::move(hosts.listener));
}

}  // namespace

int start_job(const SettledOptions& settled, const Training& training, ThisHost& here, HostFinder& finder) {
  const Options& options = settled.get();
  Result<plan::LaunchPlan> plan = make_plan(options, here, finder);
  if (!plan) return fail_for_all(options, here, finder, plan.error());
  plan->torch_store = plan::choose_torch_store(*plan, store_asked_for(options, *plan));
  for (const std::string& ignored : plan::ignored_variables(*plan)) print("warning: " + ignored);
  plan->own_name = plan->calls ? plan->calls->own_name : training.own_name;
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
  boost::asio::io_context loop{1};
  const Start start{training, here, finder, *plan, *image, loop, installer};
  HostsThatCall hosts;
  if (*dial_in) {
    if (const std::optional<int> status = join_hosts(start, options, **dial_in, hosts)) return *status;
  }
  if (!hosts.gathering) return start_here(start, options, *dial_in, hosts);
  const auto count = static_cast<std::uint32_t>((*dial_in)->hosts.size());
  return start_here(start, settled.gathered(count, hosts.gathering->shares()).get(), *dial_in, hosts);
}

}  // namespace sml
