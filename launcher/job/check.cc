#include "launcher/job/check.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/hosts/aliases.h"
#include "launcher/job/lone_mpi.h"
#include "launcher/job/session_facts.h"
#include "launcher/job/session_plans.h"

namespace sml::job {

namespace {

constexpr std::uint32_t kPings = 5;  // the quickest counts

std::uint64_t nanoseconds(Duration d) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
}

Error error_of(const wire::Obstacle& o) {
  const bool known = o.kind <= static_cast<std::uint8_t>(ErrorKind::Internal);
  return Error(known ? static_cast<ErrorKind>(o.kind) : ErrorKind::Internal, o.message).with_hint(o.hint);
}

}  // namespace

Check::Check(const JobOptions& options, const plan::LaunchPlan& plan, const launch::AgentImage& image,
             const RankLogs& logs, std::optional<dialin::HeadPlan> dial_in, Say say)
    : options_(options),
      plan_(plan),
      image_(image),
      logs_(logs),
      say_(std::move(say)),
      dial_in_(std::move(dial_in)),
      routes_(loop_.get_executor(), options.ssh, plan, image),
      signals_(loop_, SIGINT, SIGTERM, SIGHUP),
      deadline_timer_(loop_),
      ping_timer_(loop_),
      machine_(options.start_timeout, Clock::now()) {
  signals_.add(SIGQUIT);
}

Check::~Check() = default;

Result<report::CheckReport> Check::run() {
  ::signal(SIGPIPE, SIG_IGN);
  if (Result<void> open = open_to_hosts(); !open) return open.error();
  await_signals();
  make_sessions();
  for (HostEntry& host : hosts_) host.session->start();
  ping_all();
  arm_deadline();
  loop_.run();
  report::CheckReport found = report();
  hosts_.clear();
  tell_hosts(judge(found));
  routes_.leave();
  return found;
}

Result<void> Check::open_to_hosts() {
  if (!dial_in_) return {};
  Result<std::unique_ptr<dialin::Head>> head =
      dialin::make_head(loop_.get_executor(), routes_.pool(), std::move(*dial_in_),
                        {.say = say_,
                         .come = [this] { look_round(); },
                         .stop_asked =
                             [this](const std::string& host, int signo) {
                               say_(host + " has been told to stop (" + signal_name(signo) + ")");
                               stop(signo);
                             }});
  if (!head) return head.error();
  head_ = std::move(*head);
  routes_.be_called(*head_);
  head_->begin();
  return {};
}

void Check::tell_hosts(const report::Verdict& verdict) {
  if (!head_) return;
  loop_.restart();
  head_->end({static_cast<std::uint8_t>(verdict.exit_code), in_words(verdict), {}}, {}, [this] { loop_.stop(); });
  loop_.run();
  head_.reset();
}

void Check::make_sessions() {
  const SessionSettings settings{.grace = options_.grace,
                                 .heartbeat_timeout = options_.heartbeat_timeout,
                                 .start_timeout = options_.start_timeout,
                                 .interfaces = options_.interfaces,
                                 .stderr_pipe = stderr_pipe_of(options_),
                                 .wants_stdin = {}};
  for (launch::AgentSession::Plan& session : session_plans(plan_, settings)) {
    logs_.instruct(session);
    const plan::MappedHost& host = plan_.map.hosts[session.host.value()];
    HostEntry& entry = hosts_.emplace_back();
    entry.found.index = session.host;
    entry.found.name = host.host.name;
    entry.found.slots = host.host.slots.value_or(0);
    entry.found.ranks = static_cast<std::uint32_t>(host.ranks.size());
    entry.session = std::make_unique<launch::AgentSession>(loop_.get_executor(), static_cast<SessionOwner&>(*this),
                                                           image_, routes_.to(session.host), std::move(session));
  }
}

report::CheckReport Check::report() {
  const std::vector<HostAddresses> known = known_addresses();
  report::CheckReport out{.hosts = {},
                          .world_size = plan_.map.world_size(),
                          .host_source = plan_.host_source,
                          .master_address = master_address_,
                          .command = plan_.command,
                          .stop_signal = stop_signal_,
                          .machines = {}};
  std::vector<hosts::SeenHost> seen;
  for (const HostEntry& host : hosts_) {
    seen.push_back({plan_.map.hosts[host.found.index.value()].host, host.machine});
  }
  if (options_.ssh.command.empty() && !head_) out.machines = hosts::find_machines(seen);
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    hosts_[i].found.address = i == 0 && !master_address_.empty() ? master_address_ : likely_address(known[i]);
    out.hosts.push_back(std::move(hosts_[i].found));
  }
  std::move(absent_.begin(), absent_.end(), std::back_inserter(out.hosts));
  return out;
}

std::vector<HostAddresses> Check::known_addresses() const {
  std::vector<HostAddresses> out;
  for (const HostEntry& host : hosts_) {
    HostAddresses& one = out.emplace_back(connection_addresses(*host.session));
    one.own = host.own_addresses;
    one.chosen = host.chosen_addresses;
  }
  return out;
}

Check::HostEntry& Check::entry(const launch::AgentSession& session) {
  return *std::find_if(hosts_.begin(), hosts_.end(), [&](const HostEntry& h) { return h.session.get() == &session; });
}

// ---- what the sessions tell

void Check::session_introduced(launch::AgentSession& session) {
  session.send(wire::Inspect{});
  ping(entry(session));
}

void Check::session_ready(launch::AgentSession& session, const wire::Prepared& message) {
  HostEntry& host = entry(session);
  host.prepared = true;
  host.port = message.port;
  host.chosen_addresses = believable_addresses(message.addresses, place_of(session));
  for (const wire::Obstacle& o : message.obstacles) host.found.faults.push_back(error_of(o));
  for (const std::string& warning : message.warnings) host.found.warnings.push_back(show(warning, 500));
  for (const wire::MpiUse& use : message.mpi) {
    if (options_.lone_mpi == LoneMpi::Refused) {
      host.found.faults.push_back(lone_mpi_refusal(use, {}));
    } else {
      host.found.warnings.push_back(lone_mpi_warning(use, {}));
    }
  }
  look_round();
}

void Check::session_message(launch::AgentSession& session, wire::ToLauncher message) {
  HostEntry& host = entry(session);
  std::visit([&](auto& m) { handle(host, m); }, message);
}

void Check::session_ended(launch::AgentSession& session, const Error* why) {
  HostEntry& host = entry(session);
  if (why != nullptr && !host.dismissed && machine_.state() != CheckState::Over) host.found.faults.push_back(*why);
  const auto ended = [](const HostEntry& h) { return h.session->ended(); };
  if (std::all_of(hosts_.begin(), hosts_.end(), ended)) return tell(CheckEvent::AllEnded);
  look_round();
}

void Check::handle(HostEntry& host, const wire::HelloAck& m) {
  host.own_addresses = believable_addresses(m.addresses, place_of(*host.session));
  host.machine = m.machine;
}

void Check::ping(HostEntry& host) { host.session->send(wire::Ping{nanoseconds(Clock::now().time_since_epoch())}); }

void Check::handle(HostEntry& host, const wire::Pong& m) {
  const TimePoint asked{std::chrono::nanoseconds(m.token)}, now = Clock::now();
  if (asked > now || asked < TimePoint()) return;  // it never was
  ++host.pongs;
  host.found.round_trip = std::min(host.found.round_trip.value_or(now - asked), now - asked);
  host.clock.answered(asked, std::chrono::nanoseconds(m.now_ns), now);
  measure_clock(host);
  if (host.pongs < kPings) return ping(host);
  look_round();
}

void Check::handle(HostEntry& host, wire::Inspected& m) {
  host.found.facts = m.facts;
  host.inspected = std::move(m);
  measure_clock(host);
  look_round();
}

// The time of day there, against ours at the same moment.
void Check::measure_clock(HostEntry& host) const {
  if (!host.inspected || !host.found.round_trip) return;
  const TimePoint at = host.clock.ours(std::chrono::nanoseconds(host.inspected->at_ns));
  const auto ours = std::chrono::system_clock::now() - (Clock::now() - at);
  host.found.clock_offset = std::chrono::nanoseconds(host.inspected->unix_ns) - ours.time_since_epoch();
}

void Check::handle(HostEntry& host, const wire::Probed& m) {
  host.probe = HostProbe{host.session->host(), m.results};
  judge_probes();
}

void Check::handle(HostEntry& host, const wire::Bye& m) {
  if (host.dismissed) return;
  const std::string why = m.reason.empty() ? "its agent left before it was told to" : show(m.reason);
  host.found.faults.push_back(Error(ErrorKind::Lost, why));
  host.dismissed = true;
}

// ---- what the machine asks for

bool Check::has_answered(const HostEntry& host) const {
  if (host.session->ended()) return true;
  return host.prepared && host.inspected && host.pongs >= kPings;
}

void Check::look_round() {
  const auto answered = [this](const HostEntry& h) { return has_answered(h); };
  const bool all_here = !head_ || head_->missing().empty();
  if (all_here && std::all_of(hosts_.begin(), hosts_.end(), answered)) tell(CheckEvent::AllAnswered);
  judge_probes();
}

void Check::tell(CheckEvent event) {
  const CheckAction action = machine_.on(event, Clock::now());
  arm_deadline();
  perform(action);
}

void Check::perform(CheckAction action) {
  switch (action) {
    case CheckAction::None: return;
    case CheckAction::Probe: return probe_all();
    case CheckAction::TimeOut: time_out(); return probe_all();
    case CheckAction::Dismiss: return dismiss_all();
    case CheckAction::Finish: return loop_.stop();
  }
}

void Check::time_out() {
  for (HostEntry& host : hosts_) {
    if (has_answered(host)) continue;
    Error why = not_ready(options_.start_timeout, host.session->step());
    host.found.faults.push_back(why);
    host.dismissed = true;
    host.session->abandon(std::move(why));
  }
  for (const HostIndex host : head_ ? head_->missing() : std::vector<HostIndex>()) miss(host);
}

// A host that has nothing to run belongs to the job all the same.
void Check::miss(HostIndex host) {
  const plan::MappedHost& mapped = plan_.map.hosts[host.value()];
  if (!mapped.ranks.empty()) return;  // its session tells
  report::HostCheck& absent = absent_.emplace_back();
  absent.index = host;
  absent.name = mapped.host.name;
  absent.slots = mapped.host.slots.value_or(0);
  absent.faults.push_back(not_ready(options_.start_timeout, "it has not called"));
}

void Check::probe_all() {
  HostEntry& first = hosts_.front();
  candidates_ = candidate_addresses(options_.master_address, known_addresses());
  if (hosts_.size() == 1) {
    const bool asked = !options_.master_address.empty() || !first.chosen_addresses.empty();
    master_address_ = asked ? candidates_.front() : "127.0.0.1";
    return tell(CheckEvent::AllProbed);
  }
  if (first.port == 0 || !first.session->agent_runs()) return tell(CheckEvent::AllProbed);  // there is nothing to try
  for (auto host = hosts_.begin() + 1; host != hosts_.end(); ++host) {
    host->session->send(wire::Probe{candidates_, first.port, milliseconds(CheckMachine::kProbeTimeout)});
  }
  judge_probes();
}

void Check::judge_probes() {
  if (machine_.state() != CheckState::Probing || hosts_.front().port == 0) return;
  std::vector<HostProbe> probes;
  for (auto host = hosts_.begin() + 1; host != hosts_.end(); ++host) {
    if (!host->probe && host->session->agent_runs()) return;
    if (host->probe) probes.push_back(*host->probe);
  }
  if (!probes.empty()) take_address(probes);
  tell(CheckEvent::AllProbed);
}

void Check::take_address(const std::vector<HostProbe>& probes) {
  const HostEntry& first = hosts_.front();
  const ChosenAddress chosen = choose_address(candidates_, probes, first.session->name(), first.port);
  master_address_ = chosen.address;
  for (HostEntry& host : hosts_) {
    if (host.probe) host.found.reaches_first = report::Reaches::Yes;
    for (const ProbeFault& fault : chosen.faults) {
      if (fault.index != host.session->host()) continue;
      host.found.reaches_first = report::Reaches::No;
      host.found.faults.push_back(fault.why);
    }
  }
}

void Check::dismiss_all() {
  for (HostEntry& host : hosts_) {
    host.dismissed = true;
    if (host.session->agent_runs()) {
      host.session->send(wire::Stop{SIGTERM, 0});
    } else {
      host.session->abandon(Error(ErrorKind::Lost, "not needed any more"));
    }
  }
}

// ---- time and signals

void Check::arm_deadline() {
  if (!machine_.deadline()) {
    deadline_timer_.cancel();
    return;
  }
  deadline_timer_.expires_at(*machine_.deadline());
  deadline_timer_.async_wait([this](boost::system::error_code error) {
    if (!error) tell(CheckEvent::Deadline);
  });
}

// Agents whose launcher is silent leave; and those that are silent themselves are lost.
void Check::ping_all() {
  ping_timer_.expires_after(ping_interval(options_.heartbeat_timeout));
  ping_timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    for (HostEntry& host : hosts_) {
      if (!host.session->agent_runs()) continue;
      ping(host);
      if (Clock::now() - host.session->last_heard() < options_.heartbeat_timeout) continue;
      host.session->abandon(unheard_for(options_.heartbeat_timeout));
    }
    ping_all();
  });
}

void Check::await_signals() {
  signals_.async_wait([this](boost::system::error_code error, int signo) {
    if (error) return;
    stop(signo);
    await_signals();
  });
}

void Check::stop(int signo) {
  stop_signal_ = stop_signal_.value_or(signo);
  tell(CheckEvent::UserStop);
}

}  // namespace sml::job
