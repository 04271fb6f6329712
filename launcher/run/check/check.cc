#include "launcher/run/check/check.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/core/transition_table.h"
#include "launcher/attempt/rendezvous/mpi_singleton.h"
#include "launcher/attempt/session_plans.h"
#include "launcher/options/text/missing_program.h"
#include "launcher/os/heeded_stops.h"

namespace sml::run {

namespace {

constexpr std::uint32_t kPings = 5;  // the shortest round trip counts

std::vector<report::MpiOffer> offers_of(const report::HostCheck& found, plan::PmiMode pmi_mode) {
  std::vector<report::MpiOffer> out;
  if (!found.facts) return out;
  const auto pmix = found.pmix.empty() ? report::HasPmix::No : report::HasPmix::Yes;
  const std::vector<std::string>& programs = found.facts->programs;
  for (std::size_t i = 0; i < std::min(programs.size(), found.facts->mpi.size()); ++i) {
    if (!programs[i].empty()) out.push_back(mpi_offer(pmi_mode, found.facts->mpi[i], pmix));
  }
  return out;
}

report::HostCheck entry_of(HostIndex index, const plan::JobMap& map) {
  const plan::MappedHost& host = map.hosts[index.value()];
  report::HostCheck out;
  out.index = index;
  out.name = host.host.name;
  out.slots = host.host.slots.value_or(0);
  out.ranks = static_cast<std::uint32_t>(host.ranks.size());
  return out;
}

// The host's time of day minus this machine's at the same moment.
Duration clock_offset(const fleet::AgentClock& clock, const wire::Inspected& m) {
  const TimePoint at = clock.ours(std::chrono::nanoseconds(m.at_ns));
  const auto ours = std::chrono::system_clock::now() - (Clock::now() - at);
  return std::chrono::nanoseconds(m.unix_ns) - ours.time_since_epoch();
}

bool may_come(const transport::AgentLauncher::Missing& missing) { return !missing.why_not; }

}  // namespace

Check::Check(boost::asio::io_context& loop, const JobOptions& options, const plan::LaunchPlan& plan,
             const transport::AgentImage& image, const RankLogs& logs,
             std::unique_ptr<transport::AgentLauncher> agent_launcher, Print print)
    : options_(options),
      plan_(plan),
      logs_(logs),
      loop_(loop),
      print_(std::move(print)),
      signals_(loop_),
      deadline_timer_(loop_.get_executor(), {.deadline = [this] { return machine_.deadline(); },
                                             .passed = [this] { dispatch(CheckEvent::Deadline); }}),
      machine_(options.start_timeout, Clock::now()),
      fleet_(loop_, image, std::move(agent_launcher), options.heartbeat_timeout) {
  for (const int signo : os::heeded_stops()) signals_.add(signo);
  fleet_.serve(*this);
}

Check::~Check() = default;

Result<report::CheckReport> Check::run() {
  ::signal(SIGPIPE, SIG_IGN);
  if (Result<void> open = fleet_.open(launcher_events()); !open) return open.error();
  await_signals();
  make_sessions();
  fleet_.start();
  deadline_timer_.arm();
  loop_.run();
  report::CheckReport found = report();
  fleet_.dismiss();
  const report::JobOutcome verdict = judge(found);
  fleet_.send_end({static_cast<std::uint8_t>(verdict.exit_code), in_words(verdict), {}});
  fleet_.close();
  return found;
}

transport::AgentLauncher::Events Check::launcher_events() {
  return {.print = print_,
          .come = [this] { look_round(); },
          .stop_asked =
              [this](const std::string& host, int signo) {
                print_(host + " has been asked to stop (" + signal_name(signo) + ")");
                stop(host, signo);
              }};
}

void Check::make_sessions() {
  const attempt::SessionSettings settings = attempt::settings_for_check(options_, plan_.map);
  fleet_.begin_group(plan_.map.places());
  std::vector<transport::AgentSession::Plan> sessions = attempt::session_plans(plan_, settings);
  for (transport::AgentSession::Plan& spare : attempt::spare_plans(plan_, settings))
    sessions.push_back(std::move(spare));
  for (transport::AgentSession::Plan& session : sessions) {
    logs_.instruct(session);
    fleet_.add(std::move(session));
  }
  for (const fleet::Host& host : fleet_.hosts()) of(host).found = entry_of(host.index, plan_.map);
  search_.emplace(fleet_.hosts(), options_.master_address);
}

report::CheckReport Check::report() {
  report::CheckReport out{.hosts = {},
                          .world_size = plan_.map.world_size(),
                          .host_source = plan_.host_source,
                          .master_address = master_address_,
                          .command = plan_.command,
                          .stop_signal = stop_signal_,
                          .machines = fleet_.machines(plan_.map)};
  for (const fleet::Host& host : fleet_.hosts()) {
    Findings& findings = of(host);
    report::HostCheck& found = findings.found;
    if (findings.inspected) found.facts = findings.inspected->facts;
    if (findings.inspected && found.round_trip) found.clock_offset = clock_offset(host.clock, *findings.inspected);
    found.mpi = offers_of(found, plan_.mpi);
    const bool has_chosen = fleet_.is_first(host) && !master_address_.empty();
    found.address = has_chosen ? master_address_ : likely_address(known_addresses(host));
    out.hosts.push_back(std::move(found));
  }
  std::move(absent_.begin(), absent_.end(), std::back_inserter(out.hosts));
  return out;
}

// ---- messages from the hosts

void Check::host_introduced(fleet::Host& host) { host.session->send(wire::Inspect{}); }

void Check::host_prepared(fleet::Host& host, const wire::Prepared& message) {
  Findings& findings = of(host);
  report::HostCheck& found = findings.found;
  findings.prepared = true;
  if (fleet_.is_first(host)) port_ = wire::port_of(message, wire::ServiceKind::TorchStore);
  for (const wire::PreflightError& o : message.errors) {
    found.faults.push_back(with_program_advice(fleet::error_of(o), plan_));
  }
  for (const std::string& warning : message.warnings) found.warnings.push_back(show(warning, 500));
  found.pmix = message.pmix;
  for (const wire::MpiUse& use : message.mpi) {
    if (options_.mpi_singleton == MpiSingleton::Refused) {
      found.faults.push_back(attempt::mpi_singleton_refusal(use, {}, options_.mpi));
    } else {
      found.warnings.push_back(attempt::mpi_singleton_warning(use, {}, options_.mpi));
    }
  }
  look_round();
}

void Check::host_message(fleet::Host& host, wire::ToLauncher message) {
  std::visit([&](auto& m) { handle(host, m); }, message);
}

void Check::host_ended(fleet::Host& host, const Error* why) {
  Findings& findings = of(host);
  if (why != nullptr && !findings.dismissed && machine_.state() != CheckState::Over) {
    findings.found.faults.push_back(*why);
  }
  if (fleet_.all_ended()) return dispatch(CheckEvent::AllEnded);
  look_round();
}

void Check::handle(fleet::Host& host, const wire::Pong& m) {
  const TimePoint asked{std::chrono::nanoseconds(m.token)}, now = Clock::now();
  if (asked > now || asked < TimePoint()) return;  // not a token of this process
  Findings& findings = of(host);
  ++findings.pongs;
  findings.found.round_trip = std::min(findings.found.round_trip.value_or(now - asked), now - asked);
  if (findings.pongs < kPings) return host.ping();
  look_round();
}

void Check::handle(fleet::Host& host, wire::Inspected& m) {
  of(host).inspected = std::move(m);
  look_round();
}

void Check::handle(fleet::Host& host, const wire::Probed& m) {
  search_->note(host, m);
  evaluate_probes();
}

void Check::handle(fleet::Host& host, const wire::Bye& m) {
  Findings& findings = of(host);
  if (findings.dismissed) return;
  const std::string why = m.reason.empty() ? "its agent left before it was asked to" : show(m.reason);
  findings.found.faults.push_back(Error(ErrorKind::Lost, why));
  findings.dismissed = true;
}

void Check::handle(fleet::Host& host, const wire::AgentLog& m) {
  if (m.level == wire::LogLevel::Warning) of(host).found.warnings.push_back(show(m.text, 500));
}

// ---- actions of the state machine

bool Check::has_answered(const fleet::Host& host) const {
  if (host.session->ended()) return true;
  const Findings& findings = findings_.at(host.id);
  return findings.prepared && findings.inspected && findings.pongs >= kPings;
}

bool Check::all_answered() const {
  const std::span<const fleet::Host> hosts = fleet_.hosts();
  if (!std::all_of(hosts.begin(), hosts.end(), [this](const fleet::Host& host) { return has_answered(host); }))
    return false;
  const std::vector<transport::AgentLauncher::Missing> missing = fleet_.missing();
  return std::none_of(missing.begin(), missing.end(), may_come);
}

void Check::look_round() {
  if (machine_.state() == CheckState::Asking && all_answered()) dispatch(CheckEvent::AllAnswered);
  evaluate_probes();
}

void Check::dispatch(CheckEvent event) {
  const CheckState before = machine_.state();
  const CheckAction action = machine_.on(event, Clock::now());
  deadline_timer_.arm();
  if (action == CheckAction::Unexpected && options_.verbosity == Verbosity::Verbose) {
    print_(ignored(event, before));
  }
  perform(action);
}

void Check::perform(CheckAction action) {
  switch (action) {
    case CheckAction::None:
    case CheckAction::Unexpected: return;
    case CheckAction::Probe: give_up_late(); return probe_all();
    case CheckAction::Dismiss: return dismiss_all();
    case CheckAction::Finish: return loop_.stop();
  }
}

// Notes which hosts have not answered, before they are given up.
void Check::note_unanswered() {
  for (const fleet::Host& host : fleet_.hosts()) {
    if (!has_answered(host)) of(host).found.looked = report::Looked::Interrupted;
  }
  for (const transport::AgentLauncher::Missing& missing : fleet_.missing()) {
    const fleet::Host* host = fleet_.find(missing.host);
    if (host != nullptr && !has_answered(*host) && may_come(missing))
      of(*host).found.looked = report::Looked::NotCalled;
  }
}

// Counts the hosts that have not answered as failed. A host that has nothing to run belongs to the job all the same.
void Check::give_up_late() {
  note_unanswered();
  for (fleet::Host& host : fleet_.hosts()) {
    if (has_answered(host)) continue;
    Error why = fleet::not_ready(options_.start_timeout, host.session->awaited());
    of(host).found.faults.push_back(why);
    of(host).dismissed = true;
    host.session->abandon(std::move(why));
  }
  const std::vector<HostIndex> places = plan_.map.places();
  for (const transport::AgentLauncher::Missing& missing : fleet_.missing()) {
    report::HostCheck absent = entry_of(places[missing.host.value()], plan_.map);
    if (absent.ranks > 0) continue;  // its session reports it
    if (may_come(missing)) absent.looked = report::Looked::NotCalled;
    absent.faults.push_back(missing.why_not.value_or(fleet::not_ready(options_.start_timeout, "it has not called")));
    absent_.push_back(std::move(absent));
  }
}

void Check::probe_all() {
  if (fleet_.hosts().size() == 1) {
    master_address_ = search_->address_of_lone_host();
    return dispatch(CheckEvent::AllProbed);
  }
  if (port_ == 0 || !fleet_.first().runs()) return dispatch(CheckEvent::AllProbed);  // there is no address to probe
  search_->begin(port_);
  evaluate_probes();
}

void Check::evaluate_probes() {
  if (machine_.state() != CheckState::Probing || !search_->begun()) return;
  const auto chosen = search_->outcome(fleet::AddressSearch::Of::ThoseThatRun);
  if (!chosen) return;
  take_address(*chosen);
  dispatch(CheckEvent::AllProbed);
}

void Check::take_address(const fleet::ChosenAddress& chosen) {
  master_address_ = chosen.address;
  for (const fleet::Host& host : fleet_.hosts()) {
    report::HostCheck& found = of(host).found;
    if (search_->has_answered(host)) found.reaches_first = report::Reaches::Yes;
    for (const fleet::ProbeFault& fault : chosen.faults) {
      if (fault.index != host.index) continue;
      found.reaches_first = report::Reaches::No;
      found.faults.push_back(fault.why);
    }
  }
}

void Check::dismiss_all() {
  note_unanswered();
  for (fleet::Host& host : fleet_.hosts()) {
    of(host).dismissed = true;
    host.session->let_go({SIGTERM, 0}, transport::Afterwards::Leave);
  }
}

// ---- signals

void Check::await_signals() {
  signals_.async_wait([this](boost::system::error_code error, int signo) {
    if (error) return;
    stop({}, signo);
    await_signals();
  });
}

void Check::stop(std::string_view sender, int signo) {
  const os::StopEffect effect = stop_rule_.heed(sender, signo, Clock::now());
  if (effect != os::StopEffect::Begins && effect != os::StopEffect::Insists) return;
  stop_signal_ = stop_signal_.value_or(signo);
  dispatch(CheckEvent::UserStop);
}

}  // namespace sml::run
