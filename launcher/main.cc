// sml-run: starts one distributed job. See man/sml-run.1.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/private_process.h"
#include "common/plan/environment/meeting_wishes.h"
#include "launcher/control/client.h"
#include "launcher/dialin/coordinator/quorum.h"
#include "launcher/dialin/job_key.h"
#include "launcher/dialin/port.h"
#include "launcher/dialin/setup.h"
#include "launcher/fleet/make_launcher.h"
#include "launcher/inputs/host_source.h"
#include "launcher/inputs/inputs.h"
#include "launcher/inputs/install_links.h"
#include "launcher/inputs/own_address.h"
#include "launcher/inputs/secret_file.h"
#include "launcher/inputs/spare_hosts.h"
#include "launcher/options/array_line.h"
#include "launcher/options/command_line.h"
#include "launcher/options/control_line.h"
#include "launcher/os/init_process.h"
#include "launcher/report/live/own_line.h"
#include "launcher/run/check/check.h"
#include "launcher/run/restarts/first_hosts.h"
#include "launcher/run/run.h"
#include "launcher/run/watch/failure_file.h"
#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/failure_text.h"
#include "launcher/sagemaker/training.h"
#include "launcher/serve_head.h"
#include "launcher/settle.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/ssh/crypto_library.h"

namespace {

using namespace sml;

void say(const std::string& text) { os::write_all(STDERR_FILENO, report::own_line(text) + "\n"); }

int refuse(const Error& error) {
  say(error.message());
  if (!error.hint().empty()) say("hint: " + error.hint());
  return exit_code_of(error.kind());
}

// The same, and writes the failure file for the platform.
int fail(const Options& options, const Error& error) {
  if (!options.failure.path.empty() && !options.dry_run && options.check == Preflight::No) {
    const bool message = options.failure.kind == FailureKind::Message;
    const std::string text =
        sagemaker::failure_text(error, message ? sagemaker::kMessageLimit : sagemaker::kFailureLimit);
    if (Result<void> left = leave_failure(options.failure.path, text); !left) say(left.error().message());
  }
  return refuse(error);
}

Result<launch::AgentImage> agent_image(const Options& options) {
  if (!options.agent_path.empty()) return launch::AgentImage::load(options.agent_path);
  return launch::AgentImage::embedded();
}

// Identifies this build of sml-run.
std::string build_of(const launch::AgentImage& image) { return SML_VERSION " " + image.id(); }

// Also informs the hosts that would wait for this one: reports the error to the coordinator, if that is another host
// that is called, and it to all others. Only after the user and the platform have been informed, since the coordinator
// may take long to start.
int fail_for_all(const Options& options, const ThisHost& here, HostFinder& finder, const Error& error) {
  const int status = fail(options, error);
  if (options.dry_run) return status;
  const Result<launch::AgentImage> image = agent_image(options);
  if (!image) return status;
  if (const auto head = find_head(options, here, finder, build_of(*image))) {
    tell_head(options, *head, error, *image, say);
  }
  return status;
}

std::string one_line_about(const plan::LaunchPlan& plan) {
  const std::uint32_t ranks = plan.map.world_size();
  const std::uint32_t hosts = plan.map.group_world_size();
  const std::size_t spares = plan.map.spares();
  const std::string beside = spares == 0 ? "" : ", " + std::to_string(spares) + (spares == 1 ? " spare" : " spares");
  return std::to_string(ranks) + (ranks == 1 ? " rank on " : " ranks on ") + std::to_string(hosts) +
         (hosts == 1 ? " host" : " hosts") + beside + ", from " + plan.host_source;
}

std::string note_about(const std::vector<std::string>& options) {
  std::string text;
  for (const std::string& option : options) text += (text.empty() ? "" : ", ") + option;
  return "without effect here: " + show(text, 1000);
}

int show_environment(const Options& options, const plan::LaunchPlan& plan) {
  const std::uint32_t rank = *options.show_env;
  if (rank >= plan.map.world_size()) {
    return refuse(Error(ErrorKind::Usage, "--show-env: there is no rank " + std::to_string(rank) + "; the last is " +
                                              std::to_string(plan.map.world_size() - 1)));
  }
  const plan::RankAssignment& assignment = plan.map.ranks[rank];
  std::vector<std::string> names;  // used as addresses
  for (const plan::MappedHost& host : plan.map.hosts) names.push_back(host.host.name);
  const std::vector<plan::PresetPort> ports = plan::preset_ports(plan.presets, plan.map);
  const plan::Environment preset = plan::preset_environment(plan.presets, plan.map, assignment, plan.job,
                                                            {names, ports, plan.launcher_environment});
  const plan::Environment shown = plan::shown_environment(
      plan.map, assignment, plan.job, plan.program(assignment.program).user_environment, options.torch_store, preset);
  if (*options.dry_run == PlanFormat::Json) {
    return os::write_all(STDOUT_FILENO, plan::environment_to_json(shown) + "\n") ? 0 : 1;
  }
  std::string text;
  for (const std::string& entry : shown) text += show(entry, 4096) + "\n";
  return os::write_all(STDOUT_FILENO, text) ? 0 : 1;
}

// The exit status if the options only ask to show the plan.
std::optional<int> show_plan(const Options& options, const plan::LaunchPlan& plan) {
  if (options.show_env) return show_environment(options, plan);
  if (options.dry_run) {
    const bool json = *options.dry_run == PlanFormat::Json;
    return os::write_all(STDOUT_FILENO, json ? to_json(plan) + "\n" : to_table(plan)) ? 0 : 1;
  }
  if (options.display_map) os::write_all(STDERR_FILENO, to_table(plan));
  return std::nullopt;
}

int make_secret(const ThisHost& here) {
  const std::string folder = here.config_folder();
  if (folder.empty()) return refuse(Error(ErrorKind::Config, "--make-secret: there is no home folder"));
  const std::string path = default_secret_file(folder);
  if (Result<void> made = make_secret_file(path); !made) return refuse(Error(made.error()).in("--make-secret"));
  say("hosts that do not share this file need a copy of it, mode 600");
  return os::write_all(STDOUT_FILENO, path + "\n") ? 0 : 1;
}

int make_links(const std::string& folder) {
  const Result<std::string> program = own_program();
  if (!program) return refuse(Error(program.error()).in("--install-links"));
  const Result<std::vector<std::string>> made = install_links(folder, *program);
  if (!made) return refuse(Error(made.error()).in("--install-links"));
  std::string text;
  for (const std::string& path : *made) text += path + "\n";
  return os::write_all(STDOUT_FILENO, text) ? 0 : 1;
}

// Checked before connecting to any host: without descriptors, name lookups and reading keys fail with misleading
// messages.
Result<void> enough_descriptors(const plan::LaunchPlan& plan, const Options& options) {
  constexpr std::uint32_t kOwn = 16;
  const std::uint32_t hosts = plan.map.group_world_size() + static_cast<std::uint32_t>(plan.map.spares());
  const std::uint32_t per_host = options.ssh.command.empty() ? 2 : 3;
  const std::uint32_t needed = kOwn + per_host * hosts + std::min(hosts, options.ssh.fanout);
  const unsigned long limit = os::descriptor_limit();
  if (needed <= limit) return {};
  return Error(ErrorKind::Io, std::to_string(hosts) + (hosts == 1 ? " host needs " : " hosts need ") +
                                  std::to_string(needed) + " open files, the limit is " + std::to_string(limit))
      .with_hint("raise it (ulimit -Hn), or lower --fanout");
}

// Where the coordinator accepts hosts; nullopt if no host calls.
Result<std::optional<dialin::CoordinatorPlan>> open_for_hosts(const Options& options,
                                                              const std::optional<dialin::Settings>& settings,
                                                              launch::PreLaunchTask* chore,
                                                              std::shared_ptr<dialin::Coordinator> opened,
                                                              os::UniqueFd listener) {
  if (!settings || (settings->hosts.size() < 2 && !opened)) return std::optional<dialin::CoordinatorPlan>();
  if (opened) {
    return std::optional(
        dialin::CoordinatorPlan{*settings, os::UniqueFd(), options.heartbeat_timeout, chore, std::move(opened)});
  }
  if (!listener) {
    Result<os::UniqueFd> made = dialin::listen_on(settings->port);
    if (!made) return made.error();
    listener = std::move(*made);
  }
  return std::optional(dialin::CoordinatorPlan{*settings, std::move(listener), options.heartbeat_timeout, chore});
}

// For a job that is planned when its hosts have called: waits for them, and fits `options`, `plan` and `settings` to
// the number that came. Returns the exit status if that fails, after the error was printed.
std::optional<int> gather(dialin::Quorum& gathering, Options& options, plan::LaunchPlan& plan,
                          dialin::Settings& settings, const PlanOfHosts& plan_of_hosts, os::UniqueFd listener) {
  if (!listener) {
    Result<os::UniqueFd> made = dialin::listen_on(settings.port);
    if (!made) return fail(options, made.error());
    listener = std::move(*made);
  }
  const Result<std::uint32_t> hosts = gathering.run({settings, std::move(listener), options.heartbeat_timeout});
  if (!hosts) {
    fail(options, hosts.error());
    return gathering.exit_code();
  }
  options.dial_in.shares = gathering.shares();
  Result<plan::LaunchPlan> planned = plan_of_hosts(*hosts, options.dial_in.shares);
  if (!planned) {
    gathering.give_up(planned.error());
    return fail(options, planned.error());
  }
  plan = std::move(*planned);
  RestartOptions& restart = options.restart;
  if (restart.max > 0 && options.dial_in.least) {
    restart.most_hosts = options.dial_in.hosts;
    restart.discovery.callers = DiscoveryOptions::Callers::AnyTime;
    restart.discovery.slots = options.nproc_per_node;
  }
  settings.hosts.resize(*hosts);
  settings.least_hosts.reset();
  options.dial_in.hosts = *hosts;
  options.dial_in.least.reset();
  return std::nullopt;
}

// If several of the hosts may be processes on this machine, the first of them becomes the coordinator and listens.
Result<os::UniqueFd> be_head_or_call(dialin::Settings& settings) {
  if (settings.port_taken == dialin::PortTaken::IsError) return os::UniqueFd();
  Result<std::optional<os::UniqueFd>> listener = dialin::listen_unless_taken(settings.port);
  if (!listener) return listener.error();
  if (*listener) return std::move(**listener);
  settings.own_index = 1;
  settings.place = dialin::PlaceRule::ChosenByHead;
  settings.part = "port " + std::to_string(settings.port) + " is taken on this host: the head is there, and is called";
  return os::UniqueFd();
}

// Writes the findings to stdout and the faults to stderr.
int check(boost::asio::io_context& loop, const Options& options, const plan::LaunchPlan& plan,
          const launch::AgentImage& image, const std::optional<dialin::Settings>& dial_in,
          std::shared_ptr<dialin::Coordinator> opened, os::UniqueFd listener) {
  const Result<run::RankLogs> logs = run::RankLogs::plan(options.logs, options.output.routes, plan);
  if (!logs) return refuse(logs.error());
  if (options.verbosity != Verbosity::Quiet) say(one_line_about(plan));
  os::raise_descriptor_limit();
  if (Result<void> enough = enough_descriptors(plan, options); !enough) return refuse(enough.error());
  Result<std::optional<dialin::CoordinatorPlan>> head =
      open_for_hosts(options, dial_in, nullptr, std::move(opened), std::move(listener));
  if (!head) return refuse(head.error());
  const Result<report::CheckReport> found = run::Check(loop, options, plan, image, *logs, std::move(*head), say).run();
  if (!found) return refuse(found.error());
  const bool json = options.format == PlanFormat::Json;
  const bool printed = os::write_all(STDOUT_FILENO, json ? check_json(*found) + "\n" : check_table(*found));
  if (options.verbosity != Verbosity::Quiet) {
    for (const std::string& warning : check_warnings(*found)) say("warning: " + warning);
  }
  const report::JobOutcome verdict = judge(*found);
  for (const std::string& line : verdict.lines) say(line);
  if (verdict.exit_code == 0 && options.verbosity != Verbosity::Quiet) say("the job would start");
  return verdict.exit_code == 0 && !printed ? 1 : verdict.exit_code;
}

// The agent's store serves only the job's user, starts before the workers and ends after rank 0; but if the program
// names an address of its own, that is preferred.
plan::TorchStore store_asked_for(const Options& given, const plan::LaunchPlan& plan) {
  const bool is_said = given.torch_store_said == SaidByUser::Yes || given.torch_store == plan::TorchStore::OfAgent;
  if (is_said) return given.torch_store;
  return plan::usual_torch_store(plan, names_own_address(plan) ? plan::NamesAddress::Yes : plan::NamesAddress::No);
}

// The plan for `hosts` hosts, if their number may vary, with the shares that they chose.
Result<plan::LaunchPlan> plan_of(std::uint32_t hosts, const plan::HostShares& shares, Options options,
                                 const Training& training, const ThisHost& here, HostFinder& finder,
                                 const dialin::Settings& settings) {
  options.dial_in.hosts = hosts;
  options.dial_in.least.reset();
  options.dial_in.shares = shares;
  Result<plan::LaunchPlan> plan = make_plan(options, here, finder);
  if (plan) adapt_plan(*plan, training, settings);
  return plan;
}

// Null if no host calls, or if no other host takes part.
std::shared_ptr<dialin::Coordinator> head_of(std::optional<dialin::Quorum>& gathering, const Options& options) {
  const bool alone =
      options.dial_in.hosts == 1U && options.restart.discovery.callers == DiscoveryOptions::Callers::AtStart;
  return gathering && !alone ? gathering->take_head() : nullptr;
}

// The plan after several hosts have turned out to be one machine. Does not repeat warnings in `said`, which the plan
// before has caused.
Result<plan::LaunchPlan> plan_anew(const Options& options, ThisHost& here, HostFinder& finder,
                                   const std::vector<std::string>& said,
                                   std::span<const hosts::MachineNames> machines) {
  hosts::add_machines(here.machines, {machines.begin(), machines.end()});
  Result<plan::LaunchPlan> plan = make_plan(options, here, finder);
  if (!plan) return plan;
  for (const std::string& warning : plan->warnings) {
    if (std::find(said.begin(), said.end(), warning) == said.end()) say("warning: " + warning);
  }
  if (options.display_map) os::write_all(STDERR_FILENO, to_table(*plan));
  if (options.verbosity != Verbosity::Quiet) say(one_line_about(*plan));
  return plan;
}

int launch(const Options& given, const Training& training, ThisHost& here, HostFinder& finder) {
  Result<plan::LaunchPlan> plan = make_plan(given, here, finder);
  if (!plan) return fail_for_all(given, here, finder, plan.error());
  Options options = given;
  options.torch_store = plan::choose_torch_store(*plan, store_asked_for(given, *plan));
  for (const std::string& ignored : plan::ignored_variables(*plan)) say("warning: " + ignored);
  plan->own_name = plan->calls ? plan->calls->own_name : training.own_name;
  for (const std::string& warning : plan->warnings) say("warning: " + warning);
  if (const std::optional<int> shown = show_plan(options, *plan)) return *shown;
  if (takes_no_part(options, training, *plan)) {
    if (options.verbosity != Verbosity::Quiet) say("this host takes no part in the job: " + one_line_about(*plan));
    return 0;
  }
  const Result<launch::AgentImage> image = agent_image(options);
  if (!image) return fail(options, image.error());
  Result<std::optional<dialin::Settings>> dial_in = choose_dial_in(options, training, *plan, here, build_of(*image));
  if (!dial_in) return fail(options, dial_in.error());
  Installer installer(training, here);
  launch::PreLaunchTask* chore = nullptr;
  boost::asio::io_context loop{1};
  std::optional<dialin::Quorum> gathering;  // outlives the job
  os::UniqueFd listener;
  if (*dial_in) {
    Result<os::UniqueFd> opened = be_head_or_call(**dial_in);
    if (!opened) return fail(options, opened.error());
    listener = std::move(*opened);
    if (options.verbosity != Verbosity::Quiet && !(*dial_in)->advice.empty()) say((*dial_in)->advice);
    if (options.verbosity != Verbosity::Quiet && !(*dial_in)->part.empty()) say((*dial_in)->part);
    const PlanOfHosts plan_of_hosts = [&](std::uint32_t hosts, const plan::HostShares& shares) {
      return plan_of(hosts, shares, options, training, here, finder, **dial_in);
    };
    adapt_plan(*plan, training, **dial_in);
    const bool works = !plan->map.hosts[(*dial_in)->own_index].ranks.empty();
    if (works && !installer.empty() && options.check == Preflight::No) chore = &installer;
    const bool is_head = (*dial_in)->own_index == 0;
    if (!is_head) return serve_head(options, *plan, **dial_in, *image, chore, plan_of_hosts, say);
    if ((*dial_in)->least_hosts) {
      const bool may_wait = options.restart.max > 0 && options.dial_in.least;
      const auto latecomers = may_wait ? dialin::Latecomers::Wait : dialin::Latecomers::TurnedAway;
      gathering.emplace(loop, **dial_in, options.start_timeout, latecomers, say);
      if (const auto status = gather(*gathering, options, *plan, **dial_in, plan_of_hosts, std::move(listener))) {
        return *status;
      }
    }
  }
  if (options.check == Preflight::Yes)
    return check(loop, options, *plan, *image, *dial_in, head_of(gathering, options), std::move(listener));
  Result<run::Records> records = run::Records::open(options, *plan);
  if (!records) return fail(options, records.error());
  if (options.verbosity != Verbosity::Quiet) say(one_line_about(*plan));
  const std::string logs = records->logs().own_folder(plan->job.job_id);
  if (!logs.empty() && options.verbosity != Verbosity::Quiet) say("the workers' output is written to files in " + logs);
  os::raise_descriptor_limit();
  if (Result<void> enough = enough_descriptors(*plan, options); !enough) return fail(options, enough.error());
  Result<std::optional<dialin::CoordinatorPlan>> head =
      open_for_hosts(options, *dial_in, chore, head_of(gathering, options), std::move(listener));
  if (!head) return fail(options, head.error());
  if (!*head) {
    if (Result<void> installed = installer.run(); !installed) return fail(options, installed.error());
  }
  const auto replan = [&options, &here, &finder, own_name = plan->own_name,
                       said = plan->warnings](std::span<const hosts::MachineNames> machines) {
    Result<plan::LaunchPlan> anew = plan_anew(options, here, finder, said, machines);
    if (anew) anew->own_name = own_name;
    return anew;
  };
  run::SystemProcess process;
  const std::weak_ptr<dialin::Coordinator> called = *head ? (*head)->opened : nullptr;
  auto reach = fleet::make_reach(loop.get_executor(), *image, *plan, options.ssh, std::move(*head));
  return run::Run({.loop = loop, .image = *image, .process = process, .reach = std::move(reach), .head = called},
                  options, std::move(*plan), std::move(*records), replan)
      .run();
}

// Applies other options to the discovery of hosts. Returns nullopt if no script lists the hosts.
Result<std::optional<std::vector<plan::Host>>> discover_hosts(Options& options) {
  if (Result<void> checked = check_discovery(options); !checked) return checked.error();
  DiscoveryOptions& discovery = options.restart.discovery;
  discovery.hostfile = options.hostfile;
  discovery.slots = options.nproc_per_node;
  discovery.ranks_per_host = options.layout.per_host;
  if (discovery.is_on() && !discovery.most_ranks) discovery.most_ranks = options.np;
  if (discovery.is_on() && !options.output.tag) options.output.tag = *output::TagTemplate::parse("[{rank}] ");
  if (discovery.script.empty() || options.explain == Explain::Yes) return std::optional<std::vector<plan::Host>>();
  const plan::LeastSize& least = options.restart.least;
  const run::WantedHosts wanted{.hosts = least.hosts.value_or(1) + options.restart.spares,
                                .slots = options.np.value_or(least.ranks.value_or(1))};
  Result<std::vector<plan::Host>> found = run::first_hosts(discovery, wanted, say);
  if (!found) return found.error();
  return std::optional(std::move(*found));
}

// Runs ps, status and the other subcommands that query or control running jobs.
int speak_to_jobs(const std::vector<std::string>& arguments) {
  const Result<std::variant<ControlLine, Printed>> line = parse_control_line(arguments);
  if (!line) return refuse(line.error());
  if (const auto* printed = std::get_if<Printed>(&*line)) return os::write_all(STDOUT_FILENO, printed->text) ? 0 : 1;
  return control::obey(std::get<ControlLine>(*line), say);
}

int obey(const std::string& called, const std::vector<std::string>& arguments, std::span<char* const> environment) {
  os::ensure_standard_descriptors();
  if (is_control_line(called, arguments)) return speak_to_jobs(arguments);
  os::serve_as_init();
  ThisHost here = this_host(environment);
  here.sharded_folders = [environment = here.environment, read_file = here.read_file, exists = here.exists] {
    return sagemaker::sharded_folders(environment, {read_file, exists});
  };
  forget_variable(environment.data(), std::string(kSecretVariable));
  auto parsed = parse_command_line(
      arguments,
      {.environment = here.environment,
       .called = called,
       .exists = here.exists,
       .executable = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; },
       .read_file = [&here](const std::string& path, std::size_t limit) { return read_own_file(here, path, limit); },
       .secret_advice = [&here] { return key_is_there(here) ? "" : advice_on_secrets(); }});
  if (!parsed) return refuse(parsed.error());
  if (const auto* printed = std::get_if<Printed>(&*parsed)) {
    return os::write_all(STDOUT_FILENO, printed->text) ? 0 : 1;
  }
  auto& options = std::get<Options>(*parsed);
  if (options.dial_in.make_secret == MakeSecret::Yes) return make_secret(here);
  if (!options.links_folder.empty()) return make_links(options.links_folder);
  for (const std::string& warning : options.warnings) say("warning: " + warning);
  if (!options.without_effect.empty() && options.verbosity != Verbosity::Quiet) say(note_about(options.without_effect));
  Result<std::optional<std::vector<plan::Host>>> discovered = discover_hosts(options);
  if (!discovered) return fail(options, discovered.error());
  here.discovered = std::move(*discovered);
  HostFinder finder(here);
  Training training;
  const auto warn = [](const std::string& warning) { say("warning: " + warning); };
  if (Result<void> settled = settle_options(options, training, finder, here, warn); !settled) {
    return fail_for_all(options, here, finder, settled.error());
  }
  return launch(options, training, here, finder);
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  os::become_private();
  names::keep_to_built_in_sources();
  ssh::keep_to_built_in_crypto();
  int status = 125;
  try {
    std::size_t size = 0;
    while (environment[size] != nullptr) ++size;
    status = obey(argc > 0 ? argv[0] : "", std::vector<std::string>(argv + 1, argv + argc),
                  std::span<char* const>(environment, size));
  } catch (const std::exception& e) {
    say(std::string("internal error: ") + e.what());
  }
  std::fflush(nullptr);
  std::_Exit(status);  // a name lookup may still be in progress on a thread that cannot be ended
}
