#include "launcher/dialin/peer/plan_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/plan/environment/presets.h"
#include "common/plan/environment/worker_env.h"
#include "common/wire/bytes.h"

namespace sml::dialin {

namespace {

using std::string_view;

constexpr std::size_t kMaxShown = 300;
constexpr std::size_t kMaxName = 100;  // of a job name or a mark
constexpr std::size_t kMaxAddress = 255;
constexpr string_view kAnyPort = "(port)";

Error differs(const std::string& what) {
  return Error(ErrorKind::Auth, "the head asks for what this host does not expect: " + what)
      .with_hint(
          "start every host with the same command, options and variables of -x; if they are the same, somebody "
          "has answered in the place of the head");
}

Result<void> agree(bool equal, const std::string& what) {
  if (equal) return {};
  return differs(what);
}

bool is_plain_name(string_view text) {
  constexpr string_view kKnown = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
  return !text.empty() && text.size() <= kMaxName && text.find_first_not_of(kKnown) == text.npos && text.front() != '-';
}

// ---- addresses

// A character of a numeric address of any family or of a host name: none that could make it a list, a path or a
// command.
bool is_of_address(char c) { return is_letter_or_digit(c) || string_view(".:%-[]").find(c) != string_view::npos; }
bool is_address(string_view text) {
  return !text.empty() && text.size() <= kMaxAddress && std::all_of(text.begin(), text.end(), is_of_address);
}

// Whether `value` equals `form` with an address for each occurrence of `any` and a number for each of kAnyPort.
bool has_form(string_view value, string_view form, string_view any) {
  while (!form.empty()) {
    const bool address = form.starts_with(any);
    if (!address && !form.starts_with(kAnyPort)) {
      if (value.empty() || value.front() != form.front()) return false;
      value.remove_prefix(1);
      form.remove_prefix(1);
      continue;
    }
    form.remove_prefix(address ? any.size() : kAnyPort.size());
    const auto belongs = address ? is_of_address : is_digit;
    const auto end = std::find_if_not(value.begin(), value.end(), belongs);
    for (auto length = static_cast<std::size_t>(end - value.begin()); length > 0; --length) {
      if (has_form(value.substr(length), form, any)) return true;
    }
    return false;
  }
  return value.empty();
}

// ---- variables

// The name before the "=". An entry without "=" may be all value, and is not shown.
std::string shown_name(string_view entry) {
  return entry.find('=') == entry.npos ? "without a name" : show(plan::name_of(entry), kMaxName);
}

// Returns the name of a variable in which the two differ; empty if they are equal.
std::string differing_name(const plan::Environment& theirs, const plan::Environment& own) {
  for (const std::string& entry : theirs) {
    const std::string* mine = plan::find_variable(own, plan::name_of(entry));
    if (mine == nullptr || *mine != *plan::find_variable(theirs, plan::name_of(entry))) return shown_name(entry);
  }
  for (const std::string& entry : own) {
    if (plan::find_variable(theirs, plan::name_of(entry)) == nullptr) return shown_name(entry);
  }
  return theirs == own ? "" : shown_name(theirs.front());  // an entry is duplicated, or the order differs
}

Result<void> compare_variables(const plan::Environment& theirs, const plan::Environment& own) {
  const std::string name = differing_name(theirs, own);
  return agree(name.empty(), "another value of the variable " + name);
}

bool may_differ(const std::string& entry, const std::string& first, const std::string& second) {
  return has_form(entry, first, kAnyAddress[0]) || has_form(entry, second, kAnyAddress[1]);
}

// Both lists of the coordinator, the common and the rank's own, keep the order of this host's list.
Result<void> check_variables(const wire::Start& theirs, const ExpectedPlan& own) {
  const auto& [first, second] = own.variables;
  const plan::Environment& common = theirs.common;
  Error others = differs("variables of another --preset");
  if (theirs.variables.size() != first.size() || (first.empty() && !common.empty())) return others;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto& [rank, entries] = theirs.variables[i];
    const plan::Environment& form = first[i].environment;
    if (rank != first[i].rank || common.size() + entries.size() != form.size()) return others;
    for (std::size_t k = 0, shared = 0; k < form.size(); ++k) {
      const bool is_shared = shared < common.size() && plan::name_of(common[shared]) == plan::name_of(form[k]);
      if (!is_shared && k - shared == entries.size()) return others;
      const std::string& entry = is_shared ? common[shared++] : entries[k - shared];
      if (may_differ(entry, form[k], second[i].environment[k])) continue;
      return differs("another value of the variable " + shown_name(entry));
    }
  }
  return {};
}

// ---- programs and workers

// True for a variable with a default of --preset accelerate or of Accelerate's launcher, which counts only on a host
// whose own environment does not set the variable.
bool has_default(const std::string& entry) {
  static const plan::Environment defaults = plan::preset_defaults({plan::Preset::Accelerate});
  const string_view name = plan::name_of(entry);
  return name == "OMP_NUM_THREADS" || plan::find_variable(defaults, name) != nullptr;
}

plan::Environment without_defaults(plan::Environment variables) {
  std::erase_if(variables, has_default);
  return variables;
}

// Replaces the command, the working directory and the variables with defaults by this host's own; compares the rest.
Result<void> settle_app(wire::App& theirs, const wire::App& own) {
  if (theirs.base != own.base || theirs.launcher_environment != own.launcher_environment) {
    return differs("its own environment for the workers here");
  }
  if (theirs.world != own.world) return differs("other variables for the workers here");
  theirs.argv = own.argv;
  theirs.local_rank_at = own.local_rank_at;
  theirs.search_path = own.search_path;
  theirs.working_directory = own.working_directory;
  if (Result<void> same = compare_variables(theirs.environment, own.environment); !same) return same;
  const plan::Environment mine = without_defaults(own.user_environment);
  if (Result<void> same = compare_variables(without_defaults(theirs.user_environment), mine); !same) return same;
  theirs.user_environment = own.user_environment;
  return {};
}

// Replaces the names of log files by this host's own; compares the rest, and which streams have a file.
Result<void> settle_worker(wire::Worker& theirs, const wire::Worker& own) {
  const std::string rank = fmt::format("rank {}", own.rank.value());
  if (theirs.rank != own.rank || theirs.local_rank != own.local_rank || theirs.app != own.app) {
    return differs("other ranks");
  }
  if (theirs.stdin_source != own.stdin_source) return differs("another standard input of " + rank);
  if (theirs.stdout_log.empty() != own.stdout_log.empty() || theirs.stderr_log.empty() != own.stderr_log.empty()) {
    return differs("another file for the output of " + rank);
  }
  theirs.stdout_log = own.stdout_log;
  theirs.stderr_log = own.stderr_log;
  if (theirs.cores != own.cores) return differs("other cores for " + rank);
  if (theirs.stderr_pipe != own.stderr_pipe) return differs("another --merge-stderr");
  if (theirs.stdout_end != own.stdout_end) return differs("another --pty");
  if (theirs.result_pipe != own.result_pipe) return differs("another --results");
  return compare_variables(theirs.environment, own.environment);
}

// ---- the rest of a plan

// A part of a plan: its name, and its bytes as they are sent.
using Part = std::pair<string_view, std::string>;

template <class T>
Part part_of(string_view name, const T& value) {
  Part out{name, {}};
  wire::Writer writer(out.second);
  writer(value);
  return out;
}

// Ports of workers are requested for presets; other services differ in whether they serve other hosts.
void append_parts(std::vector<Part>& out, string_view name, const std::vector<wire::ServiceRequest>& services) {
  const auto ports = std::count_if(services.begin(), services.end(), [](const wire::ServiceRequest& request) {
    return request.kind == wire::ServiceKind::WorkerPort;
  });
  out.push_back(part_of("--preset", ports));
  out.push_back(part_of(name, services));
}

template <class T>
concept HasNames = requires {
  T::kNames;
};

// Appends `value` as a whole, which is called `name`.
template <class T>
requires(!HasNames<T>) void append_parts(std::vector<Part>& out, string_view name, const T& value) {
  out.push_back(part_of(name, value));
}

// Appends the fields of a struct, each by its own name, or by `name` if it has none.
template <HasNames T>
void append_parts(std::vector<Part>& out, string_view name, const T& value) {
  const auto append = [&](string_view own, const auto& field) { append_parts(out, own.empty() ? name : own, field); };
  const auto append_fields = [&](const auto&... fields) {
    static_assert(sizeof...(fields) == std::size(T::kNames),
                  "each field needs a name in kNames, and fields() one call");
    std::size_t i = 0;
    (append(T::kNames[i++], fields), ...);
  };
  const_cast<T&>(value).fields(append_fields);  // fields() only reads when given this
}

// Returns the name of the first part in which two plans differ; nullopt if they are equal.
std::optional<string_view> different_part(const wire::Prepare& theirs, const wire::Prepare& own) {
  std::vector<Part> their_parts;
  std::vector<Part> own_parts;
  append_parts(their_parts, "part of the plan", theirs);
  append_parts(own_parts, "part of the plan", own);
  const auto differs_at = std::mismatch(their_parts.begin(), their_parts.end(), own_parts.begin()).first;
  if (differs_at == their_parts.end()) return std::nullopt;
  return differs_at->first;
}

std::uint16_t port_in(const plan::Environment& environment, string_view name) {
  return parse_number<std::uint16_t>(plan::variable(environment, name)).value_or(0);
}

// Checks the rendezvous variables: an address and two ports, from which all others follow.
Result<void> check_rendezvous(const plan::Environment& theirs, plan::TorchStore torch_store) {
  plan::Rendezvous meeting{.address = std::string(plan::variable(theirs, "MASTER_ADDR")),
                           .port = port_in(theirs, "MASTER_PORT"),
                           .horovod_port = port_in(theirs, "HOROVOD_GLOO_RENDEZVOUS_PORT"),
                           .torch_store = torch_store};
  if (!is_address(meeting.address)) return differs("a MASTER_ADDR that is no address");
  return compare_variables(theirs, plan::rendezvous_environment(meeting));
}

Result<void> check_stores(const wire::Start& start, const ExpectedPlan& own) {
  const auto for_others = [](const wire::ServiceRequest& request) {
    return request.kind == wire::ServiceKind::TorchStore && request.reach == wire::ServiceReach::Network;
  };
  const std::vector<wire::ServiceRequest>& requests = own.prepare.services;
  const bool serves = std::any_of(requests.begin(), requests.end(), for_others);
  const plan::TorchStore torch = serves ? own.torch_store : wire::Stores().torch;
  const bool plain = start.stores.torch == torch && start.stores.rounds == wire::HorovodRounds::No &&
                     std::all_of(start.stores.hosts.begin(), start.stores.hosts.end(), is_address) &&
                     (serves || start.stores.hosts.empty());
  return agree(plain, "a store for others");
}

}  // namespace

Result<void> PlanVerifier::check_welcome(const Welcome& welcome, const Settings& own) {
  const auto most = static_cast<std::uint32_t>(own.hosts.size());
  const std::uint32_t least = own.least_hosts.value_or(most);
  const bool is_known = own.least_hosts ? welcome.hosts >= least : welcome.hosts == most;  // some hosts may have left
  if (!is_known) {
    const std::string range = own.least_hosts ? fmt::format("{} to {}", least, most) : std::to_string(most);
    return differs(fmt::format("a job of {} hosts, and this host knows one of {}", welcome.hosts, range));
  }
  if (const std::vector<plan::HostShare>& all = welcome.shares; !all.empty()) {
    if (!own.share || all.size() != welcome.hosts) return differs("a job whose hosts have other workers");
    if (welcome.place < welcome.hosts && all[welcome.place] != *own.share) {
      return differs("another number or role of the workers here");
    }
  }
  const bool chosen = own.place == PlaceRule::ChosenByHead;
  return agree(chosen ? welcome.place > 0 && welcome.place < welcome.hosts : welcome.place == own.own_index,
               fmt::format("place {} among the {} hosts", welcome.place, welcome.hosts));
}

Result<void> PlanVerifier::take_mark(string_view mark) {
  mark_ = mark;
  return agree(is_plain_name(mark), "a mark that is no plain name");
}

Result<std::string> PlanVerifier::pass(std::span<const char> bytes) {
  decoder_.feed(bytes);
  std::string out;
  for (;;) {
    Result<std::optional<wire::ToAgent>> next = decoder_.next();
    if (!next) return Error(ErrorKind::Auth, "the head sends what an agent does not take: " + next.error().message());
    if (!next->has_value()) return out;
    if (Result<void> checked = check(**next); !checked) return checked.error();
    out += wire::encode(**next);
  }
}

Result<void> PlanVerifier::check(wire::ToAgent& message) {
  const bool is_hello = std::holds_alternative<wire::Hello>(message);
  if (is_hello != (due_ == Due::Hello)) return differs("messages in another order");
  const auto check_message = [this]<class Message>(Message& m) -> Result<void> {
    constexpr wire::PeerCheck rule = wire::rules_of<Message>().peer_check;
    if constexpr (rule == wire::PeerCheck::Checked) {
      return check_one(m);
    }
    if (rule == wire::PeerCheck::Unchecked) return {};
    return differs(fmt::format("{}, a message for hosts that do not call", wire::message_name<Message>()));
  };
  return std::visit(check_message, message);
}

Result<void> PlanVerifier::check_one(const wire::Hello& hello) {
  due_ = Due::Prepare;
  if (!is_plain_name(hello.job_id)) return differs("a job id that is no plain name");
  job_id_ = hello.job_id;
  if (Result<void> computed = compute({.job_id = job_id_}); !computed) return computed;
  return agree(hello.host == own_->host,
               fmt::format("that it is host \"{}\", and it is \"{}\"", show(hello.host, kMaxName), show(own_->host)));
}

Result<void> PlanVerifier::compute(const AttemptParameters& choice) {
  own_ = compute_plan_(choice);
  if (!own_) return differs("workers, and this host has none");
  own_->prepare.mark = mark_;
  return {};
}

// The number of each attempt is one more than the last; its plan is what this host computes for that number and the
// hosts that are left.
Result<void> PlanVerifier::begin_attempt(const wire::Prepare& prepare) {
  if (due_ != Due::Prepare && due_ != Due::Again) return differs("a second plan");
  if (due_ == Due::Again && attempt_ >= attempts_) return differs("more restarts than --max-restarts allows");
  // A host that joins a running job, or has waited as a spare, has missed attempts.
  const bool may_miss_some = due_ == Due::Prepare && attempts_ == kAnyAttempt;
  if (prepare.attempt <= attempt_ || (prepare.attempt != attempt_ + 1 && !may_miss_some)) {
    return differs(fmt::format("attempt {} after attempt {}", prepare.attempt, attempt_));
  }
  if (prepare.restarts >= prepare.attempt) {
    return differs(fmt::format("{} restarts before attempt {}", prepare.restarts, prepare.attempt));
  }
  attempt_ = prepare.attempt;
  return compute({.job_id = job_id_,
                  .attempt = attempt_,
                  .restarts = prepare.restarts,
                  .order = prepare.order.all(),
                  .idle = prepare.idle.all()});
}

Result<void> PlanVerifier::check_one(wire::Prepare& prepare) {
  if (Result<void> begun = begin_attempt(prepare); !begun) return begun;
  if (own_->starts == Starts::No) {
    due_ = Due::Nothing;
  } else {
    due_ = own_->prepare.workers.empty() ? Due::Prepare : Due::Start;
  }
  wire::PreloadRequest& preload = own_->prepare.preload;
  if (!preload.modules.empty())
    preload.limit_ms = prepare.preload.limit_ms;  // follows --start-timeout, which the coordinator decides
  if (std::string& random = own_->prepare.mpi.name_space; !random.empty()) {
    if (!is_plain_name(prepare.mpi.name_space)) return differs("a namespace of PMIx that is no plain name");
    random = prepare.mpi.name_space;
  }
  const wire::Prepare& own = own_->prepare;
  if (prepare.apps.size() != own.apps.size()) return differs("another number of programs");
  for (std::size_t i = 0; i < own.apps.size(); ++i) {
    if (Result<void> same = settle_app(prepare.apps[i], own.apps[i]); !same) return same;
  }
  if (prepare.workers.size() != own.workers.size()) return differs("another number of workers");
  for (std::size_t i = 0; i < own.workers.size(); ++i) {
    if (Result<void> same = settle_worker(prepare.workers[i], own.workers[i]); !same) return same;
  }
  prepare.logs = own.logs;
  // Compares all fields, also those that may be added later.
  const std::optional<string_view> name = different_part(prepare, own);
  return agree(!name, fmt::format("another {}", name.value_or("")));
}

Result<void> PlanVerifier::check_one(const wire::Start& start) {
  if (due_ != Due::Start)
    return differs(own_->starts == Starts::No ? "a start, and this is a check" : "a start out of turn");
  due_ = Due::Again;
  if (Result<void> agrees = check_rendezvous(start.rendezvous, own_->torch_store); !agrees) return agrees;
  if (Result<void> stores = check_stores(start, *own_); !stores) return stores;
  return check_variables(start, *own_);
}

Result<void> PlanVerifier::check_one(const wire::AskHealth& ask) const {
  return agree(ask.command.empty() || ask.command == own_->health_check,
               fmt::format("another --health-check, \"{}\"", show(ask.command, kMaxShown)));
}

Result<void> PlanVerifier::check_input(Rank rank) const {
  const auto reads = [rank](const wire::Worker& w) {
    return w.rank == rank && w.stdin_source == wire::StdinSource::Launcher;
  };
  const std::vector<wire::Worker>& workers = own_->prepare.workers;
  return agree(std::any_of(workers.begin(), workers.end(), reads), "input for a rank that reads none");
}

}  // namespace sml::dialin
