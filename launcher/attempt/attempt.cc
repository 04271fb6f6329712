#include "launcher/attempt/attempt.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <span>
#include <utility>

#include "common/core/clock.h"
#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/core/transition_table.h"
#include "launcher/attempt/session_plans.h"
#include "launcher/options/text/missing_program.h"
#include "launcher/report/outcome/stop_words.h"
#include "launcher/report/rank_words.h"
#include "launcher/transport/session/wire_time.h"

namespace sml::attempt {

namespace {

// The stop cause to report for the event that made the attempt stop.
report::StopCause stop_cause(AttemptEvent event) {
  switch (event) {
    case AttemptEvent::WorkerFailed: return report::StopCause::WorkerFailed;
    case AttemptEvent::UserStop: return report::StopCause::Signal;
    case AttemptEvent::OutputGone: return report::StopCause::OutputGone;
    case AttemptEvent::Deadline:
    case AttemptEvent::TimeUp: return report::StopCause::TimeLimit;
    case AttemptEvent::NoProgress: return report::StopCause::NoProgress;
    case AttemptEvent::LogFailed:
    case AttemptEvent::Regroup:
    case AttemptEvent::RanksAlone: return report::StopCause::Launcher;
    default: return report::StopCause::HostFailed;
  }
}

// Adds the plan's hosts to the fleet in plan order, which is the fleet's order; spare hosts come after those with
// ranks. Returns the plan.
plan::LaunchPlan enlist(const AttemptContext& context, plan::LaunchPlan plan) {
  const SessionSettings settings = settings_for(context.options, plan.map);
  context.fleet.begin_group(plan.map.places());
  for (transport::AgentSession::Plan& session : session_plans(plan, settings)) {
    context.owner.complete(session);
    context.fleet.add(std::move(session));
  }
  for (const plan::MappedHost& host : plan.map.hosts) {
    if (host.duty == plan::HostDuty::Spare) context.fleet.add_spare(host.host, spare_plan(host, plan, settings));
  }
  return plan;
}

struct HostFault {
  HostIndex host;
  Error why;
};

// The reasons why the attempt has not started in time. May be empty if hosts have failed before: those are the reasons
// then.
std::vector<HostFault> late_faults(HostReadiness& readiness, const RendezvousSetup& rendezvous,
                                   const fleet::Fleet& fleet, const plan::JobMap& map, Duration start_timeout) {
  std::vector<HostFault> out;
  const auto blame = [&](HostIndex host, const std::string& step) {
    out.push_back({host, fleet::not_ready(start_timeout, step)});
  };
  for (const fleet::Host* host : readiness.fail_late()) blame(host->index, readiness.awaited_step(*host));
  const std::vector<HostIndex> places = map.places();
  for (const transport::AgentLauncher::Missing& missing : fleet.missing()) {
    const HostIndex host = places[missing.host.value()];
    if (!missing.why_not && map.hosts[host.value()].ranks.empty()) blame(host, "it has not called");
  }
  // All hosts were ready, but some have not reported whether they reach rank 0's host.
  const std::span<const fleet::Host> hosts = fleet.hosts();
  const auto has_failed = [&readiness](const fleet::Host& host) { return readiness.has_failed(host); };
  if (!out.empty() || std::any_of(hosts.begin(), hosts.end(), has_failed)) return out;
  for (const fleet::Host& host : hosts) {
    if (fleet.is_first(host) || rendezvous.has_answered(host)) continue;
    blame(host.index, "trying to reach " + hosts.front().name());
  }
  return out;
}

}  // namespace

Attempt::Attempt(const AttemptContext& context, plan::LaunchPlan plan, const Terms& terms)
    : context_(context),
      planned_(enlist(context, std::move(plan))),
      terms_(terms),
      machine_(context.options.start_timeout, context.options.grace, Clock::now(), context.options.timeout,
               context.options.stop_grace),
      dynamic_(planned_, {context_, *this, machine_, health_, readiness_, workers_, rendezvous_, terms_}),
      health_(context.options.restart.health_check, planned_.job.attempt, context.options.start_timeout),
      spares_({context_, *this, this->plan(), machine_, health_, terms.afterwards}),
      deadline_timer_(context.loop, {.deadline = [this] { return machine_.deadline(); },
                                     .passed = [this] { dispatch(AttemptEvent::Deadline); }}),
      readiness_(context.fleet, planned_, context.options, health_, context.events, context.owner),
      workers_(context_, planned_),
      rendezvous_(context_, this->plan(), *this),
      wire_up_(context.fleet, this->plan().map),
      queries_(context.loop, context.fleet),
      mpi_singleton_watch_(context.options, planned_, context.owner),
      stop_sequence_(
          {context_, terms_.afterwards, machine_, deadline_timer_, facts_, readiness_, workers_, rendezvous_}),
      root_cause_wait_(context.loop, workers_.table(), [this] {
        if (runs()) dispatch(AttemptEvent::WorkerFailed);
      }) {
  context.fleet.serve(*this, &spares_);
  const JobOptions& options = context.options;
  // --timeout limits the whole job, not one attempt.
  const bool has_run = terms.first_start != TimePoint();
  if (options.timeout && has_run) machine_.time_is_up_at(terms.first_start + *options.timeout);
  facts_.program = planned_.command.front();
  facts_.stdout_is_pipe = options.stdout_of_workers == StdoutOfWorkers::Pipe;
  if (options.stdin_rule == StdinRule::OneRank) facts_.input = options.stdin_rank;
  facts_.started = Clock::now();
  facts_.timeout_status = options.timeout_status;
}

// Agents that wait from an earlier attempt are connected already.
void Attempt::begin() {
  deadline_timer_.arm();
  for (fleet::Host& host : context_.fleet.hosts()) {
    const bool has_come = host.id.value() >= terms_.hosts_told;
    if (has_come && host.runs()) context_.events.publish(connected(host));
    health_.ask(host);
  }
  spares_.begin();
}

AttemptOutcome Attempt::outcome() const {
  report::AttemptFacts facts = facts_;
  // Read the failures only now: a worker's last output may arrive after the report of its exit.
  facts.ends = workers_.table().failures();
  facts.unseen = workers_.table().unseen();
  report::blame_hosts_for_kills(facts);
  AttemptOutcome out(std::move(facts));
  out.started_unix = started_unix_;
  out.all_joined = rendezvous_.all_joined();
  out.some_joined = rendezvous_.some_joined();
  out.resets = dynamic_.elastic().resets();
  out.hosts_out = dynamic_.elastic().hosts_out();
  return out;
}

std::vector<hosts::MachineNames> Attempt::machines() const {
  const bool plans_anew = facts_.faults.empty() && !facts_.stop_signal && !facts_.own_fault;
  return plans_anew ? machines_ : std::vector<hosts::MachineNames>();
}

// ---- the state machine

void Attempt::dispatch(AttemptEvent event) {
  const AttemptState before = machine_.state();
  const AttemptAction action = machine_.on(event, Clock::now());
  deadline_timer_.arm();
  if (machine_.state() != AttemptState::Running) rendezvous_.leave();
  if (machine_.state() != AttemptState::Stopping) stop_sequence_.saving_is_over();
  const bool told_before = before == AttemptState::Stopping;
  if (!told_before && machine_.state() == AttemptState::Stopping && event != AttemptEvent::OneMachine) {
    context_.events.publish(report::JobStopping{stop_cause(event)});
  }
  if (action == AttemptAction::Unexpected && context_.options.verbosity == Verbosity::Verbose) {
    context_.owner.print(ignored(event, before));
  }
  perform(action);
}

void Attempt::perform(AttemptAction action) {
  switch (action) {
    case AttemptAction::None:
    case AttemptAction::Unexpected: return;
    case AttemptAction::Probe: return rendezvous_.ask() ? dispatch(AttemptEvent::AllProbed) : look_at_probes();
    case AttemptAction::StartAll: return start_all();
    case AttemptAction::StopAll: return stop_sequence_.begin();
    case AttemptAction::GiveTime: return stop_sequence_.give_time();
    case AttemptAction::KillAll: return context_.fleet.end_workers({SIGKILL, 0}, transport::Afterwards::Leave);
    case AttemptAction::TimeOutStart:
      for (HostFault& late :
           late_faults(readiness_, rendezvous_, context_.fleet, planned_.map, context_.options.start_timeout)) {
        add_fault(late.host, std::move(late.why));
      }
      return stop_sequence_.at_once();
    case AttemptAction::TimeOutRun:
      facts_.timed_out = Clock::now();
      stop_sequence_.look_before(SIGTERM);
      return stop_sequence_.begin();
    case AttemptAction::TimeOutRest:
      facts_.timed_out = Clock::now();
      facts_.waited_out = *facts_.timed_out - first_start();
      return stop_sequence_.begin();
    case AttemptAction::TellCleared:
      workers_.settle_credit();
      queries_.end();
      return context_.owner.attempt_cleared();
    case AttemptAction::GiveUp: return finish(AttemptOwner::End::GivenUp);
    case AttemptAction::Finish: return finish(AttemptOwner::End::Seen);
  }
}

void Attempt::look_at_probes() {
  if (machine_.state() != AttemptState::Probing) return;
  std::vector<fleet::ProbeFault> faults;
  const RendezvousSetup::Search found = rendezvous_.look(faults);
  for (fleet::ProbeFault& fault : faults) add_fault(fault.index, std::move(fault.why));
  if (found == RendezvousSetup::Search::Found) dispatch(AttemptEvent::AllProbed);
  if (found == RendezvousSetup::Search::Failed) dispatch(AttemptEvent::HostFailed);
}

void Attempt::start_all() {
  context_.owner.begin_logs([this] { start_workers(); });
}

void Attempt::start_workers() {
  if (!runs()) return;  // for example because a required log cannot be kept
  if (context_.options.verbosity == Verbosity::Verbose) {
    context_.owner.print("all hosts are ready; the workers meet at " + rendezvous_.address() + " port " +
                         std::to_string(rendezvous_.port()));
  }
  mpi_singleton_watch_.starts();
  facts_.started = Clock::now();
  facts_.first_start = terms_.first_start == TimePoint() ? facts_.started : terms_.first_start;
  started_unix_ = unix_now();
  workers_.begin(facts_.started);
  context_.events.publish(report::WorkersStart{rendezvous_.address(), rendezvous_.port()}, facts_.started);
  rendezvous_.start_workers(terms_.afterwards);
}

void Attempt::look_for_end() {
  if (context_.fleet.all_ended()) return dispatch(AttemptEvent::AllEnded);
  const bool ends = machine_.state() == AttemptState::Running || machine_.state() == AttemptState::Stopping;
  if (!ends || terms_.afterwards != transport::Afterwards::Stay || !context_.fleet.all_cleared()) return;
  rendezvous_.count_joined();
  if (rendezvous_.has_counted()) dispatch(AttemptEvent::AllCleared);
}

void Attempt::give_up(const std::vector<report::AttemptFacts::HostFault>& lost) {
  facts_.faults.insert(facts_.faults.end(), lost.begin(), lost.end());
  dispatch(lost.empty() ? AttemptEvent::WorkerFailed : AttemptEvent::HostFailed);
}

// In the first attempt, the agents are kept for another plan. Later, once workers have run, hosts are not counted
// again: a host that appears under a second name is excluded.
void Attempt::found_one_machine(std::vector<hosts::MachineNames> machines) {
  if (planned_.job.attempt == 0) {
    machines_ = std::move(machines);
    terms_.afterwards = transport::Afterwards::Stay;
    return dispatch(AttemptEvent::OneMachine);
  }
  const auto known_as = [&machines](const fleet::Host& host) -> std::optional<Error> {
    for (const hosts::MachineNames& names : machines) {
      const bool is_other = std::find(names.begin() + 1, names.end(), host.name()) != names.end();
      if (is_other) return Error(ErrorKind::Lost, "is the same machine as " + names.front());
    }
    return std::nullopt;
  };
  std::size_t out = 0;
  for (fleet::Host& spare : context_.fleet.others()) {
    const std::optional<Error> why = known_as(spare);
    if (!why || std::exchange(spare.lost, true)) continue;
    ++out;
    spare.session->abandon(*why);
  }
  for (fleet::Host& host : context_.fleet.hosts()) {
    const std::optional<Error> why = known_as(host);
    if (!why || std::exchange(host.lost, true)) continue;
    ++out;
    fail_host(host, *why);
  }
  if (out > 0) look_round();  // a spare host is no reason to wait
}

void Attempt::finish(AttemptOwner::End end) {
  queries_.end();
  for (const fleet::Host& host : context_.fleet.hosts()) {
    const bool silent = !host.session->ended() && host.session->state() != transport::SessionState::Cleared;
    if (end != AttemptOwner::End::GivenUp || !silent) continue;
    facts_.unconfirmed.push_back(host.name());
    if (!machines_.empty()) add_fault(host.index, Error(ErrorKind::Lost, "has not made room for another plan"));
  }
  if (std::optional<MpiSingletonWatch::Refusal> refusal = mpi_singleton_watch_.refusal()) {
    add_fault(refusal->host, std::move(refusal->why));
  }
  context_.owner.attempt_over(end);
}

// ---- stops from outside

void Attempt::stop(int signo) {
  facts_.stop_signal = signo;
  facts_.stop_at = Clock::now();
  facts_.stopped_at_rest = machine_.state() == AttemptState::Cleared;
  const bool is_saving = stop_sequence_.lets_save();
  const bool is_joined = machine_.state() == AttemptState::Stopping && !is_saving;
  if (!facts_.stopped_at_rest && machine_.state() != AttemptState::Leaving) {
    context_.owner.print((is_joined ? signal_name(signo) + " joins the stop of the workers that is under way; "
                                    : "stopping the workers (" + signal_name(signo) + "); ") +
                         report::how_to_insist(signo));
  }
  stop_sequence_.no_more();
  dispatch(AttemptEvent::UserStop);
  if (is_saving) stop_sequence_.cut_saving_short();
}

void Attempt::note_late_stop(int signo) {
  const TimePoint now = Clock::now();
  if (facts_.stop_signal || !report::counts_late(outcome().facts, signo, now)) return;
  facts_.stop_signal = signo;
  facts_.stop_at = now;
  facts_.stopped_at_rest = true;
}

void Attempt::stop_at_once(int signo) {
  const bool has_workers = machine_.state() == AttemptState::Stopping;
  if (has_workers)
    context_.owner.print(signal_name(signo) + " again: the workers are killed at once, their grace is cut short");
  dispatch(AttemptEvent::UserInsists);
}

void Attempt::stop_for_lost_output(int sys_errno) {
  if (std::exchange(facts_.output_gone, true)) return;
  facts_.output_errno = sys_errno;
  dispatch(AttemptEvent::OutputGone);
  if (stop_sequence_.lets_save()) stop_sequence_.cut_saving_short();  // a worker that prints is blocked now
}

void Attempt::stop_for(Error why) {
  facts_.own_fault = report::AttemptFacts::OwnFault{std::move(why), Clock::now()};
  dispatch(AttemptEvent::LogFailed);
}

void Attempt::stop_for_no_progress(report::NoProgress what) {
  if (!runs()) return;
  std::string who = report::ranks_in_words(what.ranks, plan().map);
  facts_.stalled = report::AttemptFacts::Stalled{std::move(what), std::move(who), Clock::now()};
  stop_sequence_.look_before(StopSequence::kStacksSignal);
  dispatch(AttemptEvent::NoProgress);
}

void Attempt::stop_to_regroup() {
  if (!runs()) return;
  facts_.regroups = Clock::now();
  dispatch(AttemptEvent::Regroup);
}

// ---- messages and events of the hosts

void Attempt::host_introduced(fleet::Host& host) {
  if (dynamic_.introduced(host)) return;
  workers_.greet(host);
  health_.ask(host);
  readiness_.greet(host);
  rendezvous_.introduced(host);
}

void Attempt::host_prepared(fleet::Host& host, const wire::Prepared& message) {
  if (dynamic_.prepared(host, message)) return;
  rendezvous_.prepared(host, message);
  if (!message.errors.empty()) host.lost = true;
  for (const wire::PreflightError& error : message.errors) {
    fail_host(host, with_program_advice(fleet::error_of(error), planned_));
  }
  readiness_.prepared(host, message);
  if (mpi_singleton_watch_.refuses(host.index, message)) {
    readiness_.fail(host);
    dispatch(AttemptEvent::HostFailed);
  }
  readiness_.look_if_ready(host);
  look_round();
}

void Attempt::host_step(const fleet::Host& host) {
  if (!dynamic_.holds(host)) context_.events.publish(report::HostStep{host.id, host.session->step()});
}

// While hosts are awaited, tells the user which ones, and for what.
void Attempt::hosts_pinged() {
  if (machine_.state() == AttemptState::Connecting) readiness_.say_whom_we_await();
}

void Attempt::look_round() {
  const bool waits = machine_.state() == AttemptState::Connecting || machine_.state() == AttemptState::Failing;
  if (!waits) return;
  look_for_refused();
  if (readiness_.all_ready()) {
    if (!context_.fleet.missing().empty())
      return;  // hosts without workers must be connected, too, to be notified of the end
    std::vector<hosts::MachineNames> machines = context_.fleet.machines(planned_.map);
    return machines.empty() ? dispatch(AttemptEvent::AllReady) : found_one_machine(std::move(machines));
  }
  if (machine_.state() == AttemptState::Failing && readiness_.all_settled()) dispatch(AttemptEvent::AllSettled);
}

// A refused host that has workers fails by its session; this looks at the others.
void Attempt::look_for_refused() {
  if (machine_.state() != AttemptState::Connecting) return;
  for (transport::AgentLauncher::Missing& refused : context_.fleet.refused()) {
    const HostIndex host = planned_.map.places()[refused.host.value()];
    if (!planned_.map.hosts[host.value()].ranks.empty()) continue;
    add_fault(host, std::move(*refused.why_not));
    dispatch(AttemptEvent::HostFailed);
  }
}

void Attempt::add_fault(HostIndex host, Error why) {
  const TimePoint now = Clock::now();
  const plan::MappedHost& mapped = plan().map.hosts[host.value()];
  context_.events.publish(report::HostFailed{mapped.id, why}, now);
  facts_.faults.push_back({host, mapped.host.name, std::move(why), now});
}

void Attempt::fail_host(fleet::Host& host, Error why) {
  if (dynamic_.outlives(host, why)) {
    host.lost = true;
    context_.events.publish(report::HostFailed{host.id, why});
    return readiness_.fail(host);
  }
  add_fault(host.index, std::move(why));
  readiness_.fail(host);
  dispatch(AttemptEvent::HostFailed);
  if (machine_.state() == AttemptState::Cleared) context_.owner.host_lost_at_rest();
}

// The attempt can do without a dynamic host, so its end is not a failure.
void Attempt::host_ended(fleet::Host& host, const Error* why) {
  const bool is_late = dynamic_.ended(host, why);
  const bool released = is_late || readiness_.is_released(host);
  const bool stopping = machine_.state() == AttemptState::Stopping || machine_.state() == AttemptState::Leaving;
  if (why != nullptr && !released) host.lost = true;
  if (why != nullptr && !released && !readiness_.has_failed(host)) {
    if (stopping) {
      facts_.unconfirmed.push_back(host.name());
      facts_.lost_in_stop.push_back({host.index, host.name(), *why, Clock::now()});
      if (why->kind() == ErrorKind::Protocol) add_fault(host.index, *why);
    } else {
      fail_host(host, *why);
    }
  }
  const std::vector<Rank>& ranks = plan().map.hosts[host.index.value()].ranks;
  // A lost host has not sent Drained for its workers.
  for (const Rank rank : ranks) context_.sink.worker_drained(rank);
  if (!is_late && !ranks.empty() && (why == nullptr || released)) context_.events.publish(report::HostEnded{host.id});
  look_round();
  dynamic_.lost(host);
  rendezvous_.lost(host);
  if (terms_.afterwards == transport::Afterwards::Leave) rendezvous_.release_stores();
  look_for_end();
}

}  // namespace sml::attempt
