#include "launcher/attempt/attempt.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <type_traits>
#include <utility>

#include "common/core/exit_status.h"
#include "common/core/switch_point.h"
#include "common/core/text.h"
#include "common/plan/secrets.h"
#include "launcher/attempt/lone_mpi.h"
#include "launcher/attempt/session_plans.h"
#include "launcher/launch/wire_time.h"
#include "launcher/report/rank_words.h"

namespace sml::attempt {

namespace {

double unix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Of the event that made the attempt stop.
report::StopCause stop_cause(AttemptEvent event) {
  switch (event) {
    case AttemptEvent::WorkerFailed: return report::StopCause::WorkerFailed;
    case AttemptEvent::UserStop: return report::StopCause::Signal;
    case AttemptEvent::OutputGone: return report::StopCause::OutputGone;
    case AttemptEvent::Deadline: return report::StopCause::TimeLimit;
    case AttemptEvent::NoProgress: return report::StopCause::NoProgress;
    case AttemptEvent::LogFailed:
    case AttemptEvent::RanksAlone: return report::StopCause::Launcher;
    default: return report::StopCause::HostFailed;
  }
}

SessionSettings settings_for(const JobOptions& options, const plan::JobMap& map) {
  return {.grace = options.grace,
          .lost_grace = options.restart.outlives_hosts() ? std::min(options.grace, launch::kLostGrace) : options.grace,
          .heartbeat_timeout = options.heartbeat_timeout,
          .start_timeout = options.start_timeout,
          .output_window = first_output_window(hosts_that_print(map)),
          .interfaces = options.interfaces,
          .stderr_pipe = stderr_pipe_of(options),
          .usage = options.usage,
          .preload = options.preload,
          .wants_stdin = [&options](Rank rank) { return wants_stdin(options, rank); }};
}

// The hosts of the plan, which is what gives the fleet its order; spares come after those with ranks.
fleet::Fleet& enlist(fleet::Fleet& fleet, fleet::FleetListener& listener, const JobOptions& options,
                     const plan::LaunchPlan& plan, AttemptOwner& owner) {
  const SessionSettings settings = settings_for(options, plan.map);
  fleet.begin_group(plan.map.places());
  for (launch::AgentSession::Plan& session : session_plans(plan, settings)) {
    owner.complete(session);
    fleet.add(std::move(session));
  }
  for (launch::AgentSession::Plan& session : spare_plans(plan, settings)) fleet.add_spare(std::move(session));
  fleet.serve(listener);
  return fleet;
}

void tell_bindings(AttemptOwner& owner, Verbosity verbosity, const fleet::Host& host, const wire::Prepared& message) {
  constexpr std::size_t kLongest = 500;
  const std::string on_host = " on " + host.name();
  for (const wire::Bound& bound : message.bindings) {
    const std::string where = bound.where.empty() ? "is not bound" : "is bound to " + show(bound.where, kLongest);
    owner.say("rank " + std::to_string(bound.rank.value()) + on_host + " " + where);
  }
  if (verbosity == Verbosity::Quiet) return;
  for (const std::string& warning : message.warnings) owner.say(host.name() + ": " + show(warning, kLongest));
}

// The limit is that of the whole job.
std::optional<Duration> time_left(const JobOptions& options, const Terms& terms) {
  if (!options.timeout || terms.first_start == TimePoint()) return options.timeout;
  return std::max(Duration::zero(), terms.first_start + *options.timeout - Clock::now());
}

}  // namespace

Attempt::Attempt(boost::asio::io_context& loop, const JobOptions& options, plan::LaunchPlan plan, const Terms& terms,
                 fleet::Fleet& fleet, const report::EventFeed& events, AttemptOwner& owner, WorkerSink& sink)
    : options_(options),
      plan_(std::move(plan)),
      owner_(owner),
      sink_(sink),
      terms_(terms),
      fleet_(enlist(fleet, *this, options, plan_, owner)),
      events_(events),
      machine_(options.start_timeout, options.grace, Clock::now(), time_left(options, terms), options.stop_grace),
      deadline_timer_(loop),
      hosts_(fleet.hosts().size()),
      health_(options.restart.health_check, plan_.job.attempt, options.start_timeout),
      workers_(fleet, plan_, options, events, owner, sink),
      meeting_(loop.get_executor(), fleet, plan_, options,
               {.say = [&owner](const std::string& text) { owner.say(text); },
                .missing = [&owner] { owner.ranks_missing(); },
                .counted = [this] { look_for_end(); }}),
      wire_up_(fleet, plan_.map),
      inquiry_(loop.get_executor(), fleet),
      use_inquiry_(loop.get_executor(), fleet),
      pause_(loop.get_executor(), options.stop, fleet),
      warned_of_mpi_(plan_.job.attempt > 0) {
  facts_.program = plan_.command.front();
  facts_.started = Clock::now();
  facts_.timeout_status = options.timeout_status;
}

// Agents that wait from an earlier attempt are here already.
void Attempt::begin() {
  arm_deadline();
  for (fleet::Host& host : fleet_.hosts()) health_.ask(host);
  for (fleet::Host& spare : fleet_.others()) {
    if (spare.session->state() == launch::SessionState::Cleared && !spare.lost) health_.ask(spare);
  }
}

AttemptOutcome Attempt::outcome() const {
  AttemptOutcome out{facts_, workers_.table().records(), started_unix_, meeting_.all_joined(), {}};
  // Only now: its last words may have come after the news of its end.
  out.facts.ends = workers_.table().failures();
  out.facts.unseen = workers_.table().unseen();
  if (facts_.faults.empty() && !facts_.stop_signal) out.machines = machines_;
  return out;
}

// ---- the machine

void Attempt::tell(AttemptEvent event) {
  const AttemptState before = machine_.state();
  const AttemptAction action = machine_.on(event, Clock::now());
  arm_deadline();
  if (machine_.state() != AttemptState::Running) meeting_.leave();
  if (machine_.state() != AttemptState::Stopping) pause_.end();
  const bool told_before = before == AttemptState::Stopping;
  if (!told_before && machine_.state() == AttemptState::Stopping) {
    events_.tell(report::JobStops{stop_cause(event)});
  }
  if (action == AttemptAction::Unexpected && options_.verbosity == Verbosity::Verbose) {
    owner_.say("ignored \"" + std::string(name(event)) + "\" while " + std::string(name(before)));
  }
  perform(action);
}

void Attempt::perform(AttemptAction action) {
  switch (action) {
    case AttemptAction::None:
    case AttemptAction::Unexpected: return;
    case AttemptAction::Probe: return meeting_.ask() ? tell(AttemptEvent::AllProbed) : look_at_probes();
    case AttemptAction::StartAll: return start_all();
    case AttemptAction::StopAll: return end_softly();
    case AttemptAction::KillAll:
      SML_SWITCH_POINT("all workers are to be killed");
      return fleet_.end_workers({SIGKILL, 0}, launch::Afterwards::Leave);
    case AttemptAction::TimeOutStart: return time_out_start();
    case AttemptAction::TimeOutRun:
      facts_.timed_out = Clock::now();
      is_looked_at_ = true;
      return end_softly();
    case AttemptAction::TellCleared: return clear();
    case AttemptAction::GiveUp: SML_SWITCH_POINT("hosts are given up"); return finish(AttemptOwner::End::GivenUp);
    case AttemptAction::Finish: return finish(AttemptOwner::End::Seen);
  }
}

void Attempt::look_at_probes() {
  if (machine_.state() != AttemptState::Probing) return;
  std::vector<fleet::ProbeFault> faults;
  const Meeting::Search found = meeting_.look(faults);
  for (fleet::ProbeFault& fault : faults) add_fault(fault.index, std::move(fault.why));
  if (found == Meeting::Search::Found) tell(AttemptEvent::AllProbed);
  if (found == Meeting::Search::Failed) tell(AttemptEvent::HostFailed);
}

void Attempt::start_all() {
  SML_SWITCH_POINT("all hosts are ready");
  owner_.begin_logs();
  if (!runs()) return;  // a log that must be kept cannot be
  if (options_.verbosity == Verbosity::Verbose) {
    owner_.say("all hosts are ready; the workers meet at " + meeting_.address() + " port " +
               std::to_string(meeting_.port()));
  }
  if (mpi_found_) found_mpi(plan_.map.hosts[mpi_found_->host.value()].host.name, mpi_found_->use);
  facts_.started = Clock::now();
  facts_.first_start = terms_.first_start == TimePoint() ? facts_.started : terms_.first_start;
  started_unix_ = unix_now();
  workers_.begin(facts_.started);
  events_.tell(report::WorkersStart{meeting_.address(), meeting_.port()}, facts_.started);
  meeting_.start_workers(terms_.afterwards);
}

// That of a job which hangs makes Python print the stacks of all threads.
int Attempt::stop_signal() const {
  const int signo = facts_.stop_signal.value_or(facts_.stalled ? SIGABRT : SIGTERM);
  return signo == SIGTERM ? options_.stop.signal : signo;
}

void Attempt::end_softly() {
  if (!std::exchange(is_looked_at_, false)) return let_save();
  machine_.take_longer(Inquiry::kAll);
  arm_deadline();
  owner_.before_end([this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && machine_.state() == AttemptState::Stopping) let_save();
  });
}

// Workers run, nobody outside has asked for their end, and none waits for our reader.
bool Attempt::may_save() const {
  const bool is_ours = !facts_.stop_signal && !facts_.output_gone;
  return pause_.most() > Duration::zero() && started_unix_ > 0 && is_ours && machine_.state() == AttemptState::Stopping;
}

void Attempt::let_save() {
  if (!may_save()) return stop_all();
  SML_SWITCH_POINT("workers may save what they have");
  machine_.take_longer(pause_.most());
  arm_deadline();
  if (options_.verbosity != Verbosity::Quiet) {
    owner_.say("the workers get " + signal_name(options_.stop.checkpoint->signo) + " and up to " +
               format_duration(pause_.most()) + " to save what they have and end (--checkpoint-signal)");
  }
  workers_.are_to_end(Clock::now());
  pause_.begin([this] {
    if (machine_.state() == AttemptState::Stopping) stop_all();
  });
}

void Attempt::cut_saving_short() {
  machine_.take_longer(-pause_.end());
  arm_deadline();
  stop_all();
}

void Attempt::stop_all() {
  const SignalTarget target = options_.stop.target.value_or(SignalTarget::Group);
  const wire::Stop stop{stop_signal(), launch::milliseconds(machine_.grace()), target};
  const bool leaving = no_more_ || machine_.state() == AttemptState::Leaving;
  SML_SWITCH_POINT("all workers are to stop");
  for (fleet::Host& host : fleet_.hosts()) {
    SML_PLANT("a stop that forgets one host") continue;
    if (host.runs()) {
      host.session->end_workers(stop, leaving ? launch::Afterwards::Leave : terms_.afterwards);
    } else if (!host.session->ended()) {
      of(host).released = true;
      host.session->abandon(Error(ErrorKind::Lost, "not needed any more"));
    }
  }
  if (!leaving) count_joined();
  const bool no_more = leaving || terms_.afterwards == launch::Afterwards::Leave;
  for (fleet::Host& spare : fleet_.others()) {
    if (no_more) let_go(spare, stop);
  }
}

void Attempt::let_go(fleet::Host& host, const wire::Stop& stop) {
  if (host.runs()) return host.session->end_workers(stop, launch::Afterwards::Leave);
  if (!host.session->ended()) host.session->abandon(Error(ErrorKind::Lost, "not needed any more"));
}

// Only who may try again wants to know, and only of workers that have been started.
void Attempt::count_joined() {
  if (started_unix_ > 0 && terms_.afterwards == launch::Afterwards::Stay) meeting_.count_joined();
}

void Attempt::clear() {
  workers_.settle_credit();
  inquiry_.end();
  use_inquiry_.end();
  owner_.attempt_cleared();
}

// After news that something is over on a host.
void Attempt::look_for_end() {
  if (fleet_.all_ended()) return tell(AttemptEvent::AllEnded);
  const bool ends = machine_.state() == AttemptState::Running || machine_.state() == AttemptState::Stopping;
  if (!ends || terms_.afterwards != launch::Afterwards::Stay || !fleet_.all_cleared()) return;
  count_joined();
  if (started_unix_ == 0 || meeting_.has_counted()) tell(AttemptEvent::AllCleared);
}

void Attempt::time_out_start() {
  const auto blame = [this](HostIndex host, const std::string& step) {
    add_fault(host, fleet::not_ready(options_.start_timeout, step));
  };
  for (const fleet::Host& host : fleet_.hosts()) {
    if (of(host).ready || of(host).failed) continue;
    of(host).failed = true;
    blame(host.index, awaited_step(host));
  }
  const std::vector<HostIndex> places = plan_.map.places();
  for (const HostId missing : fleet_.missing()) {
    const HostIndex host = places[missing.value()];
    if (plan_.map.hosts[host.value()].ranks.empty()) blame(host, "it has not called");
  }
  // All were ready, and some have not said whether they reach rank 0's host.
  const bool unprobed = facts_.faults.empty();
  for (const fleet::Host& host : fleet_.hosts()) {
    if (!unprobed || host.position == 0 || meeting_.has_answered(host)) continue;
    blame(host.index, "trying to reach " + fleet_.first().name());
  }
  stop_all();
}

void Attempt::finish(AttemptOwner::End end) {
  inquiry_.end();
  use_inquiry_.end();
  for (const fleet::Host& host : fleet_.hosts()) {
    const bool silent = !host.session->ended() && host.session->state() != launch::SessionState::Cleared;
    if (end == AttemptOwner::End::GivenUp && silent) facts_.unconfirmed.push_back(host.name());
  }
  if (mpi_found_ && options_.lone_mpi == LoneMpi::Refused) {
    add_fault(mpi_found_->host, lone_mpi_refusal(mpi_found_->use, {}, plan_.mpi));
  }
  owner_.attempt_over(end);
}

void Attempt::arm_deadline() {
  if (!machine_.deadline()) {
    deadline_timer_.cancel();
    return;
  }
  deadline_timer_.expires_at(*machine_.deadline());
  deadline_timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    // A time that came together with the news which took it back comes here all the same.
    if (error || alive.expired()) return;
    if (machine_.deadline() && *machine_.deadline() <= Clock::now()) tell(AttemptEvent::Deadline);
  });
}

// ---- what ends it from outside

void Attempt::stop(int signo) {
  if (!facts_.stop_signal) {
    facts_.stop_signal = signo;
    facts_.stop_at = Clock::now();
    facts_.stopped_at_rest = machine_.state() == AttemptState::Cleared;
    if ((machine_.state() != AttemptState::Stopping || pause_.is_on()) && !facts_.stopped_at_rest) {
      owner_.say("stopping the workers (" + signal_name(signo) + "); " +
                 (signo == SIGINT ? "press Ctrl-C again" : "send it again") + " to kill them at once");
    }
  }
  if (!pause_.is_on()) return tell(AttemptEvent::UserStop);
  no_more_ = true;
  cut_saving_short();
}

void Attempt::stop_for_lost_output(int sys_errno) {
  if (std::exchange(facts_.output_gone, true)) return;
  facts_.output_errno = sys_errno;
  tell(AttemptEvent::OutputGone);
  if (pause_.is_on()) cut_saving_short();  // who prints stands still now
}

void Attempt::stop_for_lost_log(Error why) {
  facts_.own_fault = report::Facts::OwnFault{std::move(why), Clock::now()};
  tell(AttemptEvent::LogFailed);
}

void Attempt::stop_for_no_progress(report::NoProgress what) {
  if (!runs()) return;
  std::string who = report::ranks_in_words(what.ranks, plan_.map);
  facts_.stalled = report::Facts::Stalled{std::move(what), std::move(who), Clock::now()};
  is_looked_at_ = true;
  tell(AttemptEvent::NoProgress);
}

// ---- what the hosts tell

void Attempt::host_introduced(fleet::Host& host) {
  workers_.greet(host);
  health_.ask(host);
  tell_of_secrets(host);
  meeting_.introduced(host);
}

// As soon as there is a host that does not get them; once.
void Attempt::tell_of_secrets(const fleet::Host& host) {
  if (host.session->is_local() || options_.verbosity == Verbosity::Quiet) return;
  if (std::exchange(told_of_secrets_, true)) return;
  const std::vector<std::string> names = withheld_secrets(plan_);
  if (!names.empty()) owner_.say(plan::say_withheld(names));
}

void Attempt::host_prepared(fleet::Host& host, const wire::Prepared& message) {
  meeting_.prepared(host, message);
  if (!message.obstacles.empty()) host.lost = true;
  for (const wire::Obstacle& obstacle : message.obstacles) fail_host(host, fleet::error_of(obstacle));
  tell_bindings(owner_, options_.verbosity, host, message);
  note_mpi(host, message);
  of(host).prepared = message.obstacles.empty();
  look_if_ready(host);
  look_round();
}

void Attempt::look_if_ready(fleet::Host& host) {
  const bool ready = of(host).prepared && health_.passed(host) && !of(host).failed;
  if (ready && !std::exchange(of(host).ready, true)) events_.tell(report::HostReady{host.index});
}

void Attempt::note_health(fleet::Host& host, const wire::Health& message) {
  const std::optional<Result<void>> news = health_.note(host, message);
  if (!news || of(host).failed) return;
  if (!*news) {
    host.lost = true;
    fail_host(host, news->error());
  }
  look_if_ready(host);
  look_round();
}

std::string Attempt::awaited_step(const fleet::Host& host) const {
  const bool only_that = hosts_[host.position].prepared && !health_.passed(host);
  return only_that ? "checking its health" : host.session->step();
}

// All hosts tell the same of one program, so only one of them is named.
void Attempt::note_mpi(fleet::Host& host, const wire::Prepared& message) {
  for (const wire::MpiUse& use : message.mpi) {
    if (!mpi_found_ || use.rank < mpi_found_->use.rank) mpi_found_ = MpiFound{host.index, use};
  }
  if (message.mpi.empty() || options_.lone_mpi != LoneMpi::Refused) return;
  of(host).failed = true;
  tell(AttemptEvent::HostFailed);
}

// Said once, unless the job is not to run so.
void Attempt::found_mpi(const std::string& host, const wire::MpiUse& use) {
  if (options_.lone_mpi == LoneMpi::Warned) {
    if (std::exchange(warned_of_mpi_, true) || options_.verbosity == Verbosity::Quiet) return;
    return owner_.say("warning: " + lone_mpi_warning(use, host, plan_.mpi));
  }
  if (!runs()) return;
  facts_.own_fault = report::Facts::OwnFault{lone_mpi_refusal(use, host, plan_.mpi), Clock::now()};
  tell(AttemptEvent::RanksAlone);
}

void Attempt::host_step(const fleet::Host& host) { events_.tell(report::HostStep{host.index, host.session->step()}); }

// While they are awaited, people learn what for.
void Attempt::hosts_pinged() {
  constexpr Duration kAgain = std::chrono::milliseconds(4500);
  if (machine_.state() != AttemptState::Connecting || options_.verbosity == Verbosity::Quiet) return;
  if (Clock::now() - told_whom_we_await_ < kAgain) return;
  told_whom_we_await_ = Clock::now();
  std::map<std::string, std::vector<std::string>> by_step;
  for (const fleet::Host& host : fleet_.hosts()) {
    if (!of(host).ready) by_step[awaited_step(host)].push_back(host.name());
  }
  for (const auto& [step, names] : by_step) owner_.say("waiting for " + fold_names(names) + " (" + step + ")");
}

void Attempt::look_round() {
  const bool waits = machine_.state() == AttemptState::Connecting || machine_.state() == AttemptState::Failing;
  if (!waits) return;
  const auto ready = std::count_if(hosts_.begin(), hosts_.end(), [](const OfHost& h) { return h.ready; });
  const auto failed = std::count_if(hosts_.begin(), hosts_.end(), [](const OfHost& h) { return h.failed; });
  if (static_cast<std::size_t>(ready) == hosts_.size()) {
    if (!fleet_.missing().empty()) return;  // hosts without workers are to hear of the end, too
    machines_ = fleet_.machines(plan_.map);
    return tell(machines_.empty() ? AttemptEvent::AllReady : AttemptEvent::OneMachine);
  }
  if (machine_.state() == AttemptState::Failing && static_cast<std::size_t>(ready + failed) == hosts_.size()) {
    tell(AttemptEvent::AllSettled);
  }
}

void Attempt::add_fault(HostIndex host, Error why) {
  const TimePoint now = Clock::now();
  events_.tell(report::HostFailed{host, why}, now);
  facts_.faults.push_back({host, plan_.map.hosts[host.value()].host.name, std::move(why), now});
}

void Attempt::fail_host(fleet::Host& host, Error why) {
  add_fault(host.index, std::move(why));
  of(host).ready = false;
  of(host).failed = true;
  tell(AttemptEvent::HostFailed);
  if (machine_.state() == AttemptState::Cleared) owner_.host_lost_at_rest();
}

void Attempt::host_ended(fleet::Host& host, const Error* why) {
  const bool stopping = machine_.state() == AttemptState::Stopping || machine_.state() == AttemptState::Leaving;
  if (why != nullptr && !of(host).released) host.lost = true;
  if (why != nullptr && !of(host).released && !of(host).failed) {
    if (stopping) {
      facts_.unconfirmed.push_back(host.name());
      if (why->kind() == ErrorKind::Protocol) add_fault(host.index, *why);
    } else {
      fail_host(host, *why);
    }
  }
  // Of a host that was lost nobody has said so.
  for (const Rank rank : plan_.map.hosts[host.index.value()].ranks) sink_.worker_drained(rank);
  if (why == nullptr || of(host).released) events_.tell(report::HostEnded{host.index});
  look_round();
  meeting_.lost(host);
  if (terms_.afterwards == launch::Afterwards::Leave) meeting_.release_stores();
  look_for_end();
}

// ---- what spares tell, and hosts that are out

void Attempt::spare_message(fleet::Host& host, const wire::ToLauncher& message) {
  if (const auto* hello = std::get_if<wire::HelloAck>(&message)) handle(host, *hello);
  const auto* answer = std::get_if<wire::Health>(&message);
  const std::optional<Result<void>> news = answer != nullptr ? health_.note(host, *answer) : std::nullopt;
  if (news && !*news) host.session->abandon(news->error());
}

void Attempt::spare_step(const fleet::Host& host) { host_step(host); }

void Attempt::spare_waits(fleet::Host& host) {
  events_.tell(report::HostReady{host.index});
  health_.ask(host);
}

// The attempt goes on without it.
void Attempt::spare_ended(fleet::Host& host, const Error* why) {
  const bool over = machine_.state() == AttemptState::Leaving || machine_.state() == AttemptState::Finished;
  if (why == nullptr || over) {
    events_.tell(report::HostEnded{host.index});
  } else {
    events_.tell(report::HostFailed{host.index, *why});
    owner_.say("the spare host " + host.name() + " is out: " + why->message());
  }
  look_for_end();
}

void Attempt::host_message(fleet::Host& host, wire::ToLauncher message) {
  std::visit([&](const auto& m) { handle(host, m); }, message);
}

template <class Message>
void Attempt::handle(fleet::Host& host, const Message& m) {
  if constexpr (std::is_same_v<Message, wire::HelloAck>) {
    const auto place = host.session->is_local() ? report::HostPlace::ThisMachine : report::HostPlace::Remote;
    events_.tell(report::HostConnected{host.index, place, host.session->peer_address(), m.pid});
  } else if constexpr (std::is_same_v<Message, wire::Probed>) {
    meeting_.note(host, m);
    look_at_probes();
  } else if constexpr (std::is_same_v<Message, wire::ExitedWorker>) {
    worker_ended(host, m);
  } else if constexpr (std::is_same_v<Message, wire::Cleared>) {
    for (const std::string& left : m.left) facts_.left_behind.push_back(host.name() + ": " + show(left));
    look_for_end();
  } else if constexpr (std::is_same_v<Message, wire::Bye>) {
    left(host, m);
  } else if constexpr (std::is_same_v<Message, wire::Health>) {
    note_health(host, m);
  } else if constexpr (std::is_same_v<Message, wire::MpiUse>) {
    found_mpi(host.name(), m);
  } else if constexpr (std::is_same_v<Message, wire::FenceData>) {
    const Result<void> taken = wire_up_.take(host, m);
    if (!taken && !of(host).failed) fail_host(host, taken.error());
  } else if constexpr (std::is_same_v<Message, wire::Relay>) {
    wire_up_.hand_on(m);
  } else if constexpr (std::is_same_v<Message, wire::RankFault>) {
    worker_failed(host, m);
  } else if constexpr (std::is_same_v<Message, wire::LogFailed>) {
    owner_.host_log_failed(Error(ErrorKind::Io, host.name() + ": " + show(m.why, 500)));
  } else if constexpr (std::is_same_v<Message, wire::PipeFailed>) {
    if (!of(host).failed) fail_host(host, Error(ErrorKind::Io, show(m.why, 1000)));
  } else if constexpr (requires { workers_.handle(host, m); }) {
    workers_.handle(host, m);
  } else if constexpr (requires { meeting_.handle(host, m); }) {
    meeting_.handle(host, m);
  } else if constexpr (requires { inquiry_.handle(host, m); }) {
    inquiry_.handle(host, m);
  } else if constexpr (std::is_same_v<Message, wire::WorkersUse>) {
    use_inquiry_.handle(host, m);
  }
}

void Attempt::worker_ended(const fleet::Host& host, const wire::ExitedWorker& m) {
  const Workers::End end = workers_.ended(host, m);
  const auto serves = [](const plan::RankAssignment& rank) { return rank.part != plan::Part::Worker; };
  // Those whom they have served have all ended, and nothing else runs.
  if (end.was_last && (runs() || pause_.is_on()) &&
      std::any_of(plan_.map.ranks.begin(), plan_.map.ranks.end(), serves)) {
    fleet_.end_workers({options_.stop.signal, launch::milliseconds(options_.grace)}, terms_.afterwards);
  }
  if (end.failed_by_itself && options_.on_failure == OnFailure::Abort) tell(AttemptEvent::WorkerFailed);
}

// Whoever asks for the end of the job gets it; who is only broken ends as a worker does.
void Attempt::worker_failed(const fleet::Host& host, const wire::RankFault& m) {
  workers_.condemn(host, m);
  const bool asked = m.kind == wire::FaultKind::Aborted;
  if (asked || options_.on_failure == OnFailure::Abort) tell(AttemptEvent::WorkerFailed);
}

void Attempt::left(fleet::Host& host, const wire::Bye& m) {
  if (!m.reason.empty()) return fail_host(host, Error(ErrorKind::Lost, show(m.reason)));
  const bool before_start = machine_.state() == AttemptState::Connecting || machine_.state() == AttemptState::Failing ||
                            machine_.state() == AttemptState::Probing;
  if (before_start && !of(host).failed) fail_host(host, Error(ErrorKind::Lost, "its agent left before the start"));
}

}  // namespace sml::attempt
