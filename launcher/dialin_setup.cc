#include "launcher/dialin_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "common/core/text.h"
#include "launcher/dialin/dialler.h"
#include "launcher/dialin/key.h"
#include "launcher/host_source.h"
#include "launcher/job/failure_file.h"
#include "launcher/sagemaker/failure_text.h"

namespace sml {

namespace {

using std::string_view;

constexpr std::size_t kLeastSecret = 16;
constexpr std::size_t kMostSecret = 65536;

std::string variable(const Machine& machine, string_view name) {
  const std::string* entry = plan::find_variable(machine.environment, name);
  return entry == nullptr ? std::string() : std::string(plan::value_of(*entry));
}

bool is_wanted(const Options& options, const Training& training, const plan::LaunchPlan& plan) {
  const DialInOptions& o = options.dial_in;
  return o.hosts || o.place || !o.head.empty() || training.hosts_call || plan.calls;
}

bool names_are_made_up(const plan::LaunchPlan& plan) {
  return plan.calls && plan.calls->names == plan::CallingHosts::Names::MadeUp;
}

// ---- which host

auto find_host(const plan::LaunchPlan& plan, const std::string& name) {
  const std::vector<plan::MappedHost>& hosts = plan.map.hosts;
  return std::find_if(hosts.begin(), hosts.end(), [&](const plan::MappedHost& h) { return h.host.name == name; });
}

Error which_host(const plan::LaunchPlan& plan) {
  return Error(ErrorKind::Usage, fmt::format("{} does not say which of the {} hosts this one is; say it with "
                                             "--node-rank, from 0, the head",
                                             show(plan.host_source), plan.map.hosts.size()));
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
  if (own_name.empty()) return which_host(plan);
  const auto own = find_host(plan, own_name);
  if (own == hosts.end()) {
    return Error(ErrorKind::Config, fmt::format("this host, \"{}\", takes no part in the job, whose hosts come from {}",
                                                show(own_name), show(plan.host_source)));
  }
  return static_cast<std::uint32_t>(own - hosts.begin());
}

// ---- where the head is

struct HeadPlace {
  std::string name;
  std::uint16_t port = dialin::kDefaultPort;
};

// ADDR, ADDR:PORT, [V6], [V6]:PORT, or an IPv6 address alone.
Result<HeadPlace> parse_head(string_view text) {
  const Error bad(
      ErrorKind::Usage,
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
  const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), out.port);
  const bool whole = error == std::errc() && end == port.data() + port.size() && port.front() == ':' && out.port != 0;
  return whole ? Result<HeadPlace>(out) : bad;
}

Result<HeadPlace> named_head(const plan::LaunchPlan& plan) {
  if (plan::valid_host_name(plan.calls->head)) return HeadPlace{plan.calls->head};
  return Error(ErrorKind::Config, fmt::format("{}: the address of the first host, \"{}\", is none", plan.host_source,
                                              show(plan.calls->head, 100)));
}

// The head itself need not know by which address the others call it.
Result<HeadPlace> place_of_head(const Options& options, const plan::LaunchPlan& plan, std::uint32_t own_index) {
  if (!options.dial_in.head.empty()) return parse_head(options.dial_in.head);
  if (plan.calls && !plan.calls->head.empty()) return named_head(plan);
  if (own_index == 0 || !names_are_made_up(plan)) return HeadPlace{plan.map.hosts.front().host.name};
  return Error(
      ErrorKind::Usage,
      fmt::format("{} does not name the head, that is host 0: name it with --head ADDR[:PORT]", plan.host_source));
}

// ---- the key

std::string job_name(const Machine& machine) {
  for (const string_view name : {"TRAINING_JOB_ARN", "TRAINING_JOB_NAME", "AWS_BATCH_JOB_ID"}) {
    const std::string value = variable(machine, name);
    if (!value.empty()) return value.substr(0, value.find('#'));  // AWS Batch: each host of a job has its own "#N"
  }
  return "";
}

std::uint32_t attempt_of(const Options& options, const Machine& machine) {
  if (options.dial_in.attempt) return *options.dial_in.attempt;
  const std::string value = variable(machine, "AWS_BATCH_JOB_ATTEMPT");
  std::uint32_t attempt = 0;
  std::from_chars(value.data(), value.data() + value.size(), attempt);
  return attempt;
}

Result<std::string> given_secret(const Options& options, const Machine& machine) {
  std::string secret = variable(machine, kSecretVariable);
  std::string source = "$" + std::string(kSecretVariable);
  if (!options.dial_in.secret_file.empty()) {
    source = "--secret-file " + options.dial_in.secret_file;
    Result<std::string> text = machine.read_file(options.dial_in.secret_file, kMostSecret);
    if (!text) return Error(ErrorKind::Config, fmt::format("{}: {}", show(source), text.error().message()));
    secret = std::move(*text);
    while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  } else if (secret.empty()) {
    return secret;
  }
  if (secret.size() >= kLeastSecret) return secret;
  return Error(ErrorKind::Config, fmt::format("{}: the secret has {} bytes; it must have at least {}, and be random",
                                              show(source), secret.size(), kLeastSecret))
      .with_hint("head -c 32 /dev/urandom | base64 makes one");
}

Result<dialin::Key> find_key(const Options& options, const Machine& machine, const dialin::Settings& settings) {
  const Result<std::string> secret = given_secret(options, machine);
  if (!secret) return secret.error();
  if (!secret->empty()) return dialin::derive_key(*secret, "sml-run dial-in: secret");
  if (settings.job.empty()) {
    return Error(ErrorKind::Config, "the hosts of this job share no secret by which they know each other")
        .with_hint("give every host the same with --secret-file FILE, or in the variable SML_JOB_SECRET");
  }
  return dialin::derive_key(fmt::format("{}\n{}", settings.job, fmt::join(settings.hosts, "\n")),
                            "sml-run dial-in: job");
}

// What hosts must agree on before workers start.
std::string plan_digest(const plan::LaunchPlan& plan, Preflight check) {
  std::string text = check == Preflight::Yes ? "check\n" : "";
  for (const plan::MappedHost& host : plan.map.hosts) {
    text += fmt::format("{} {}\n", host.host.name, host.ranks.size());
  }
  for (std::size_t i = 0; i < plan.program_count(); ++i) {
    for (const std::string& word : plan.program(i).command) text += fmt::format("{} {}\n", word.size(), word);
    text += '\n';
  }
  return dialin::digest(text);
}

void set_variable(plan::Environment& environment, const std::string& entry) {
  const string_view name = plan::name_of(entry);
  std::erase_if(environment, [name](const std::string& other) { return plan::name_of(other) == name; });
  environment.push_back(entry);
}

void leave_text(const Options& options, const std::string& text, const std::function<void(const std::string&)>& say) {
  if (options.failure.path.empty() || text.empty()) return;
  if (const Result<void> left = leave_failure(options.failure.path, text); !left) say(left.error().message());
}

}  // namespace

bool takes_no_part(const Options& options, const Training& training, const plan::LaunchPlan& plan) {
  if (!training.hosts_call || plan.calls || options.dial_in.place) return false;
  return find_host(plan, training.own_name) == plan.map.hosts.end();
}

Result<std::optional<dialin::Settings>> choose_dial_in(const Options& options, const Training& training,
                                                       const plan::LaunchPlan& plan, const Machine& machine,
                                                       const std::string& build) {
  if (!is_wanted(options, training, plan)) return std::optional<dialin::Settings>();
  dialin::Settings settings;
  const Result<std::uint32_t> place = place_of(options, training, plan);
  if (!place) return place.error();
  settings.own_index = *place;
  const Result<HeadPlace> head = place_of_head(options, plan, settings.own_index);
  if (!head) return head.error();
  settings.head = head->name;
  settings.port = head->port;
  for (const plan::MappedHost& host : plan.map.hosts) settings.hosts.push_back(host.host.name);
  settings.job = job_name(machine);
  settings.attempt = attempt_of(options, machine);
  settings.build = build;
  settings.plan = plan_digest(plan, options.check);
  settings.callers = names_are_made_up(plan) ? dialin::Callers::Anywhere : dialin::Callers::ListedHosts;
  const Result<dialin::Key> key = find_key(options, machine, settings);
  if (!key) return key.error();
  settings.key = *key;
  return std::optional(std::move(settings));
}

void adapt_plan(plan::LaunchPlan& plan, const Training& training, const dialin::Settings& settings) {
  plan.own_name = settings.hosts[settings.own_index];
  plan.export_policy = plan::ExportPolicy::None;
  for (const std::string& entry : training.host_variables) set_variable(plan.launcher_environment, entry);
  std::erase_if(plan.launcher_environment,
                [](const std::string& entry) { return plan::name_of(entry) == kSecretVariable; });
}

int serve_head(const Options& options, const plan::LaunchPlan& plan, const dialin::Settings& settings,
               const launch::AgentImage& image, launch::Chore* chore,
               const std::function<void(const std::string&)>& say) {
  const auto tell = [&](const std::string& text) {
    if (options.verbosity != Verbosity::Quiet) say(text);
  };
  const dialin::Outcome outcome = dialin::dial({.settings = settings,
                                                .patience = options.start_timeout,
                                                .grace = options.grace,
                                                .heartbeat_timeout = options.heartbeat_timeout,
                                                .environment = plan.launcher_environment,
                                                .chore = chore},
                                               image, tell);
  if (outcome.fault) {
    say(outcome.fault->message());
    if (!outcome.fault->hint().empty()) say("hint: " + outcome.fault->hint());
    const bool message = options.failure.kind == FailureKind::Message;
    leave_text(options,
               sagemaker::failure_text(*outcome.fault, message ? sagemaker::kMessageLimit : sagemaker::kFailureLimit),
               say);
  } else if (outcome.exit_code != 0) {
    say((options.check == Preflight::Yes ? "the check has ended: " : "the job has ended: ") + outcome.text);
    leave_text(options, outcome.failure, say);
  }
  return outcome.exit_code;
}

}  // namespace sml
