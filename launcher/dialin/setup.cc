#include "launcher/dialin/setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/dialin/job_key.h"
#include "launcher/dialin/key.h"
#include "launcher/dialin/peer/dialler.h"
#include "launcher/dialin/place_hint.h"
#include "launcher/dialin/step_space.h"
#include "launcher/hosts/step.h"
#include "launcher/inputs/inputs.h"
#include "launcher/sagemaker/contract.h"

namespace sml {

namespace {

using std::string_view;

// Whether a platform has given the job this host and no other.
bool is_alone(const plan::LaunchPlan& plan) {
  const std::vector<plan::MappedHost>& hosts = plan.map.hosts;
  return hosts.size() == 1 && plan.calls && hosts.front().host.name == plan.calls->own_name;
}

bool is_wanted(const Options& options, const Training& training, const plan::LaunchPlan& plan) {
  const DialInOptions& o = options.dial_in;
  return o.hosts || o.place || !o.head.empty() || training.hosts_call || (plan.calls && !is_alone(plan));
}

bool names_are_made_up(const plan::LaunchPlan& plan) {
  return plan.calls && plan.calls->names == plan::CallingHosts::Names::MadeUp;
}

// ---- the place of this host

auto find_host(const plan::LaunchPlan& plan, const std::string& name) {
  const std::vector<plan::MappedHost>& hosts = plan.map.hosts;
  return std::find_if(hosts.begin(), hosts.end(), [&](const plan::MappedHost& h) { return h.host.name == name; });
}

Error which_host(const Options& options, const plan::LaunchPlan& plan) {
  if (!options.dial_in.head.empty() && !plan.calls)
    return Error(ErrorKind::Usage, "--head needs --nnodes N, the number of hosts on which this command runs");
  if (names_are_made_up(plan)) {
    return Error(ErrorKind::Usage,
                 fmt::format("{}: {} hosts also need --head ADDR[:PORT], the address of the first, the same on each",
                             show(plan.host_source), plan.map.hosts.size()));
  }
  return Error(ErrorKind::Usage, fmt::format("{} does not show which of the {} hosts this one is; set it with "
                                             "--node-rank, from 0, the head",
                                             show(plan.host_source), plan.map.hosts.size()));
}

// True if neither an option nor a platform gives this host's place, but all hosts name the same coordinator.
bool head_decides(const Options& options, const plan::LaunchPlan& plan) {
  return !options.dial_in.place && plan.calls && plan.calls->own_name.empty() && names_are_made_up(plan) &&
         !options.dial_in.head.empty();
}

Result<std::uint32_t> place_of(const Options& options, const Training& training, const plan::LaunchPlan& plan) {
  const std::vector<plan::MappedHost>& hosts = plan.map.hosts;
  const DialInOptions& o = options.dial_in;
  if (o.hosts && *o.hosts != hosts.size()) {
    return Error(ErrorKind::Usage, fmt::format("--nnodes {}: there are {} hosts, from {}", *o.hosts, hosts.size(),
                                               show(plan.host_source)));
  }
  if (o.place && *o.place >= hosts.size()) {
    return Error(ErrorKind::Usage, fmt::format("--node-rank {}: the job has {} hosts; the last is {}", *o.place,
                                               hosts.size(), hosts.size() - 1));
  }
  if (o.place) return *o.place;
  const std::string& own_name = plan.calls ? plan.calls->own_name : training.own_name;
  if (own_name.empty()) return which_host(options, plan);
  const auto own = find_host(plan, own_name);
  if (own == hosts.end()) {
    return Error(ErrorKind::Config, fmt::format("this host, \"{}\", takes no part in the job, whose hosts come from {}",
                                                show(own_name), show(plan.host_source)));
  }
  return static_cast<std::uint32_t>(own - hosts.begin());
}

// ---- the address of the coordinator

struct HeadPlace {
  std::string name;
  std::uint16_t port = dialin::kDefaultPort;
};

// ADDR, ADDR:PORT, [V6], [V6]:PORT, or an IPv6 address alone.
Result<HeadPlace> parse_head(string_view text) {
  Error bad(ErrorKind::Usage,
            fmt::format("--head: \"{}\" is not ADDR or ADDR:PORT; an IPv6 address stands in brackets", show(text)));
  HeadPlace out;
  string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == string_view::npos) return bad;
    out.name = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    out.name = text.substr(0, text.find(':'));
    port = text.substr(text.find(':'));
  } else {
    out.name = text;
  }
  if (!plan::valid_host_name(out.name)) return bad;
  if (port.empty()) return out;
  out.port = parse_number<std::uint16_t>(port.substr(1)).value_or(0);
  return port.front() == ':' && out.port != 0 ? Result<HeadPlace>(out) : bad;
}

Result<HeadPlace> named_head(const plan::LaunchPlan& plan) {
  if (plan::valid_host_name(plan.calls->head)) return HeadPlace{plan.calls->head};
  return Error(ErrorKind::Config, fmt::format("{}: the address of the first host, \"{}\", is none", plan.host_source,
                                              show(plan.calls->head, 100)));
}

// The coordinator itself need not know by which address the others call it.
Result<HeadPlace> place_of_head(const Options& options, const plan::LaunchPlan& plan, std::uint32_t own_index) {
  if (!options.dial_in.head.empty()) return parse_head(options.dial_in.head);
  if (plan.calls && !plan.calls->head.empty()) return named_head(plan);
  if (own_index == 0 || !names_are_made_up(plan)) return HeadPlace{plan.map.hosts.front().host.name};
  return Error(
      ErrorKind::Usage,
      fmt::format("{} does not name the head, that is host 0: name it with --head ADDR[:PORT]", plan.host_source));
}

// An elastic job needs the same number of workers on each host, in the order of the hosts: other code relies on that.
bool is_even(const Options& o) {
  return !o.np && !o.layout.per_host && o.layout.map_by == plan::MapBy::Slot && o.rankfile.empty();
}
Error uneven(const Options& options) {
  return Error(ErrorKind::Usage, fmt::format("--nnodes {}:{}: each host has the workers of --nproc-per-node; --np, "
                                             "--npernode, --map-by and --rankfile cannot be given with it",
                                             *options.dial_in.least, options.dial_in.hosts.value_or(0)));
}

Error place_of_many(const Options& options) {
  return Error(
      ErrorKind::Usage,
      fmt::format("--node-rank {}: where the number of hosts may vary, as with --nnodes {}:{}, "
                  "they have their places as they come; leave it out",
                  options.dial_in.place.value_or(0), *options.dial_in.least, options.dial_in.hosts.value_or(0)));
}

// As torch's agents do: the host that owns the address is the coordinator, and the others get their places from it. If
// srun or a similar launcher numbers the hosts, the coordinator follows these numbers; if the name does not resolve
// yet, the host with number 0 is the coordinator.
void join_by_head(dialin::Settings& settings, const ThisHost& here, const DialInOptions& options, std::uint32_t hosts) {
  const transport::Whose whose =
      here.names.whose_host ? here.names.whose_host(settings.head) : transport::Whose::Unknown;
  const std::optional<dialin::PlaceHint> hint = dialin::place_hint(here.process.environment, hosts);
  const bool first = whose == transport::Whose::Unknown && hint && hint->place == 0;
  if (hint) settings.preferred = hint->place;
  settings.own_index = whose == transport::Whose::Ours || first ? 0 : 1;
  if (settings.own_index == 0) {
    const std::string why = first ? fmt::format("{} is 0", hint->variable) : show(settings.head) + " is its own";
    const std::string others =
        options.least ? fmt::format("{} to {}", *options.least - 1, hosts - 1) : std::to_string(hosts - 1);
    settings.port_taken = first ? dialin::PortTaken::IsError : dialin::PortTaken::HeadIsHere;
    settings.part = fmt::format("this host is the head, as {}; {} to call its port {}", why,
                                others == "1" ? "1 other is" : others + " others are", settings.port);
    return;
  }
  settings.place = dialin::PlaceRule::ChosenByHead;
}

// Where each host chooses for itself how many workers it has, and in which role. Hosts that come to a running job, or
// go, have to be alike.
bool each_says_its_share(const Options& options, const plan::LaunchPlan& plan) {
  const bool wanted = options.dial_in.shares_are == SharesAre::OfEachHost && names_are_made_up(plan);
  const bool hosts_stay = !options.dial_in.least || options.restart.max == 0;
  return wanted && hosts_stay && plan.map.hosts.size() > 1 && is_even(options) && options.presets.empty() &&
         options.more_programs.empty();
}

// The head learns all of them before it plans the job; who knows its place wishes it.
void say_share(dialin::Settings& settings, const Options& options, const plan::LaunchPlan& plan) {
  settings.share = {plan.map.hosts[settings.own_index].slots, options.role};
  settings.least_hosts = options.dial_in.least.value_or(static_cast<std::uint32_t>(plan.map.hosts.size()));
  if (settings.own_index == 0 || settings.place == dialin::PlaceRule::ChosenByHead) return;
  settings.place = dialin::PlaceRule::ChosenByHead;
  settings.preferred = settings.own_index;
}

// ---- the name of the job

// --run-id separates several jobs within one job of the platform, or with one coordinator.
std::string job_name(const Options& options, const ThisHost& here, const std::optional<hosts::Step>& step) {
  const std::string run = options.run_id.empty() ? "" : "run " + options.run_id;
  for (const string_view name : {"TRAINING_JOB_ARN", "TRAINING_JOB_NAME", "AWS_BATCH_JOB_ID"}) {
    const std::string value = variable(here, name);
    if (!value.empty()) return value.substr(0, value.find('#')) + run;  // AWS Batch: each host has its own "#N"
  }
  return (step ? step->id : sagemaker::processing_job(here.process.environment, here.files)) + run;
}

// Several steps may have their heads on one host at the same time.
std::uint16_t port_of_step(const hosts::Step& step) {
  constexpr std::uint32_t kFirst = 20'480;  // below those that the system gives to clients
  constexpr std::uint32_t kPorts = 8'192;
  std::uint32_t number = 0;
  for (const char digit : dialin::digest(step.id).substr(0, 8)) {
    number = number * 16 + static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }
  return static_cast<std::uint16_t>(kFirst + number % kPorts);
}

std::uint32_t attempt_of(const Options& options, const ThisHost& here) {
  if (options.dial_in.attempt) return *options.dial_in.attempt;
  return leading_number<std::uint32_t>(variable(here, "AWS_BATCH_JOB_ATTEMPT")).value_or(0);
}

// "4", or "4, 2" if they differ.
std::string workers_by_host(const plan::JobMap& map) {
  std::vector<std::string> counts;
  for (const plan::MappedHost& host : map.hosts) counts.push_back(std::to_string(host.ranks.size()));
  const bool alike = std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
  if (alike && !counts.empty()) counts.resize(1);
  return fmt::format("{}", fmt::join(counts, ", "));
}

// The settings on which hosts must agree before workers start. Each runs a command of its own, in a directory of its
// own.
dialin::JobSettings job_settings_of(const plan::LaunchPlan& plan, Preflight check, const dialin::Settings& settings) {
  const std::size_t hosts = plan.map.hosts.size();
  const std::string count =
      settings.needs_all() ? std::to_string(hosts) : fmt::format("{}:{}", *settings.least_hosts, hosts);
  dialin::JobSettings out{{"the number of hosts", count}};
  if (!settings.share) out.push_back({"the workers of each host", workers_by_host(plan.map)});
  if (!names_are_made_up(plan)) {
    std::vector<std::string> names;
    for (const plan::MappedHost& host : plan.map.hosts) names.push_back(host.host.name);
    out.push_back({"the hosts", fold_names(names)});
  }
  out.push_back({"the number of programs", std::to_string(plan.program_count())});
  if (!settings.share) out.push_back({"--role", fmt::format("{}", fmt::join(plan.map.roles, ", "))});
  out.push_back({"--check", check == Preflight::Yes ? "yes" : "no"});
  return out;
}

void set_variable(plan::Environment& environment, const std::string& entry) {
  const string_view name = plan::name_of(entry);
  std::erase_if(environment, [name](const std::string& other) { return plan::name_of(other) == name; });
  environment.push_back(entry);
}

// Keeps only the options that determine the hosts and how they call each other.
Options hosts_only(const Options& options) {
  Options out;
  out.mode = options.mode;
  out.training = options.training;
  out.dial_in = options.dial_in;
  out.run_id = options.run_id;
  out.hosts = options.hosts;
  out.hostfile = options.hostfile;
  out.resource_config = options.resource_config;
  out.include_hosts = options.include_hosts;
  out.exclude_hosts = options.exclude_hosts;
  out.host_order = options.host_order;
  out.host_count = options.host_count;
  out.host_source = options.host_source;
  out.groups = options.groups;
  out.nproc_per_node = 1;
  out.command = {"true"};
  return out;
}

}  // namespace

std::optional<dialin::Settings> find_head(const Options& options, const ThisHost& here, HostFinder& finder,
                                          const std::string& build) {
  Options bare = hosts_only(options);
  Training training;
  if (bare.mode == Mode::Train) {
    Result<Training> prepared = prepare_training(bare, here, finder);
    if (!prepared) return std::nullopt;
    training = std::move(*prepared);
  }
  const Result<plan::LaunchPlan> plan = make_plan(bare, here, finder);
  if (!plan || takes_no_part(bare, training, *plan)) return std::nullopt;
  Result<std::optional<dialin::Settings>> settings = choose_dial_in(bare, training, *plan, here, build);
  if (!settings || !*settings || (*settings)->own_index == 0) return std::nullopt;
  return std::move(*settings);
}

void tell_head(const Options& options, const dialin::Settings& settings, const Error& why,
               const transport::AgentImage& image, const std::function<void(const std::string&)>& print) {
  const auto tell = [&](const std::string& text) {
    if (options.verbosity != Verbosity::Quiet) print(text);
  };
  tell(fmt::format("telling the head, {} port {}", show(settings.head), settings.port));
  const dialin::Outcome outcome =
      dialin::dial({.settings = settings,
                    .timeout = options.start_timeout,
                    .grace = options.grace,
                    .heartbeat_timeout = options.heartbeat_timeout,
                    .environment = {},
                    .compute = [](const dialin::Welcome&, const dialin::AttemptParameters&) { return std::nullopt; },
                    .task = nullptr,
                    .unable = why,
                    .verbosity = options.verbosity},
                   image, tell);
  if (!outcome.text.empty()) tell("the job has ended: " + outcome.text);
}

bool takes_no_part(const Options& options, const Training& training, const plan::LaunchPlan& plan) {
  if (!training.hosts_call || plan.calls || options.dial_in.place) return false;
  return find_host(plan, training.own_name) == plan.map.hosts.end();
}

Result<std::optional<dialin::Settings>> choose_dial_in(const Options& options, const Training& training,
                                                       const plan::LaunchPlan& plan, const ThisHost& here,
                                                       const std::string& build) {
  if (!is_wanted(options, training, plan)) return std::optional<dialin::Settings>();
  dialin::Settings settings;
  const bool by_head = head_decides(options, plan);
  const Result<std::uint32_t> place = by_head ? 0 : place_of(options, training, plan);
  if (!place) return place.error();
  settings.own_index = *place;
  const std::optional<hosts::Step> step = step_of_job(options, here);
  const Result<HeadPlace> head = place_of_head(options, plan, settings.own_index);
  const bool is_said_later = step && options.dial_in.head.empty() && dialin::find_space(here.process.environment);
  if (!head && !is_said_later) return head.error();
  if (head) {
    settings.head = head->name;
    settings.port = step && options.dial_in.head.empty() ? port_of_step(*step) : head->port;
  }
  if (options.dial_in.least && settings.own_index != 0) return place_of_many(options);
  if (options.dial_in.least && !is_even(options)) return uneven(options);
  if (by_head) join_by_head(settings, here, options.dial_in, static_cast<std::uint32_t>(plan.map.hosts.size()));
  for (const plan::MappedHost& host : plan.map.hosts) settings.hosts.push_back(host.host.name);
  settings.job = job_name(options, here, step);
  settings.attempt = attempt_of(options, here);
  settings.build = build;
  settings.least_hosts = options.dial_in.least;
  settings.last_call = options.dial_in.last_call;
  if (each_says_its_share(options, plan)) say_share(settings, options, plan);
  settings.job_settings = job_settings_of(plan, options.check, settings);
  // Hosts of a step may call from any of their networks.
  const bool from_anywhere = names_are_made_up(plan) || step;
  settings.callers = from_anywhere ? dialin::Callers::Anywhere : dialin::Callers::ListedHosts;
  Result<JobKey> key = find_job_key(options, here, settings, step);
  if (!key) return key.error();
  if (!head && !key->space) return head.error();
  settings.key = key->key;
  settings.space = std::move(key->space);
  settings.peer_proof = std::move(key->peer);
  settings.proof = std::move(key->proof);
  settings.advice = std::move(key->advice);
  return std::optional(std::move(settings));
}

plan::LaunchPlan plan_of_calling_host(plan::LaunchPlan plan, const Training& training) {
  plan.export_policy = plan::ExportPolicy::None;
  for (const std::string& entry : training.host_variables) set_variable(plan.launcher_environment, entry);
  std::erase_if(plan.launcher_environment,
                [](const std::string& entry) { return plan::name_of(entry) == kSecretVariable; });
  return plan;
}

}  // namespace sml
