// What the sessions tell a Job: facts are noted, output is passed on, and the machine hears what matters to it.
#include <algorithm>

#include "common/core/text.h"
#include "common/plan/secrets.h"
#include "launcher/job/job.h"
#include "launcher/job/lone_mpi.h"
#include "launcher/job/session_plans.h"

namespace sml::job {

namespace {

constexpr std::size_t kSlowReader = std::size_t{1} << 20;  // no more credit while so much waits for our reader
constexpr std::size_t kMostRemarks = 1000;                 // of one agent: no credit bounds them

}  // namespace

void Job::host_introduced(fleet::Host& host) {
  const std::size_t hosts = fleet_.hosts().size();
  const std::uint64_t more = output_window(hosts) - first_output_window(hosts);
  if (!host.session->is_local() && more > 0) host.session->send(wire::Credit{more});
  tell_of_secrets(host);
  search_->ask(host);
}

// As soon as there is a host that does not get them; once.
void Job::tell_of_secrets(const fleet::Host& host) {
  if (host.session->is_local() || options_.verbosity == Verbosity::Quiet) return;
  if (std::exchange(told_of_secrets_, true)) return;
  const std::vector<std::string> names = withheld_secrets(plan_);
  if (!names.empty()) console_.say(plan::say_withheld(names));
}

void Job::host_prepared(fleet::Host& host, const wire::Prepared& message) {
  const std::uint16_t torch_port = wire::port_of(message, wire::ServiceKind::TorchStore);
  if (torch_port != 0 && host.position == 0) {
    master_port_ = torch_port;
    horovod_port_ = wire::port_of(message, wire::ServiceKind::HorovodStore);
    search_->begin(master_port_);
  }
  const std::vector<std::uint16_t> ports = wire::ports_of(message, wire::ServiceKind::WorkerPort);
  auto port = ports.begin();
  for (plan::PresetPort& reserved : preset_ports_) {
    if (reserved.host == host.index && port != ports.end()) reserved.port = *port++;
  }
  for (const wire::Obstacle& o : message.obstacles) fail_host(host, fleet::error_of(o));
  tell_bindings(host, message);
  note_mpi(host, message);
  info(host).ready = !info(host).failed && message.obstacles.empty();
  if (info(host).ready) events_.tell(report::HostReady{host.index});
  check_settled();
}

// All hosts tell the same of one program, so only one of them is named.
void Job::note_mpi(fleet::Host& host, const wire::Prepared& message) {
  for (const wire::MpiUse& use : message.mpi) {
    if (!mpi_found_ || use.rank < mpi_found_->use.rank) mpi_found_ = MpiFound{host.index, use};
  }
  if (message.mpi.empty() || options_.lone_mpi != LoneMpi::Refused) return;
  info(host).failed = true;
  tell(JobEvent::HostFailed);
}

void Job::warn_of_lone_mpi(const std::string& host, const wire::MpiUse& use) {
  if (std::exchange(warned_of_mpi_, true) || options_.verbosity == Verbosity::Quiet) return;
  console_.say("warning: " + lone_mpi_warning(use, host));
}

void Job::handle(fleet::Host& host, const wire::MpiUse& m) {
  if (options_.lone_mpi == LoneMpi::Warned) return warn_of_lone_mpi(host.name(), m);
  if (machine_.state() != JobState::Running) return;
  facts_.own_fault = report::Facts::OwnFault{lone_mpi_refusal(m, host.name()), Clock::now()};
  tell(JobEvent::RanksAlone);
}

void Job::tell_bindings(const fleet::Host& host, const wire::Prepared& message) {
  constexpr std::size_t kLongest = 500;
  const std::string on_host = " on " + host.name();
  for (const wire::Bound& bound : message.bindings) {
    const std::string where = bound.where.empty() ? "is not bound" : "is bound to " + show(bound.where, kLongest);
    console_.say("rank " + std::to_string(bound.rank.value()) + on_host + " " + where);
  }
  if (options_.verbosity == Verbosity::Quiet) return;
  for (const std::string& warning : message.warnings) {
    console_.say(host.name() + ": " + show(warning, kLongest));
  }
}

void Job::host_step(const fleet::Host& host) { events_.tell(report::HostStep{host.index, host.session->step()}); }

void Job::check_settled() {
  const auto ready = std::count_if(infos_.begin(), infos_.end(), [](const HostInfo& h) { return h.ready; });
  const auto failed = std::count_if(infos_.begin(), infos_.end(), [](const HostInfo& h) { return h.failed; });
  if (static_cast<std::size_t>(ready) == infos_.size()) {
    if (!fleet_.missing().empty()) return;  // hosts without workers are to hear of the end, too
    look_for_machines();
    return tell(machines_.empty() ? JobEvent::AllReady : JobEvent::OneMachine);
  }
  if (static_cast<std::size_t>(ready + failed) == infos_.size()) tell(JobEvent::AllSettled);
}

void Job::look_for_machines() {
  if (machine_.state() == JobState::Connecting) machines_ = fleet_.machines(plan_.map);
}

void Job::add_fault(HostIndex host, Error why) {
  const TimePoint now = Clock::now();
  events_.tell(report::HostFailed{host, why}, now);
  facts_.faults.push_back({host, plan_.map.hosts[host.value()].host.name, std::move(why), now});
}

void Job::fail_host(fleet::Host& host, Error why) {
  add_fault(host.index, std::move(why));
  info(host).ready = false;
  info(host).failed = true;
  tell(JobEvent::HostFailed);
}

void Job::host_ended(fleet::Host& host, const Error* why) {
  const bool stopping = machine_.state() == JobState::Stopping;
  if (why != nullptr && !info(host).released && !info(host).failed) {
    if (stopping) {
      facts_.unconfirmed.push_back(host.name());
      if (why->kind() == ErrorKind::Protocol) add_fault(host.index, *why);
    } else {
      fail_host(host, *why);
    }
  }
  // Of a host that was lost nobody has said so.
  for (const Rank rank : plan_.map.hosts[host.index.value()].ranks) console_.worker_done(rank);
  console_.flush();
  if (why == nullptr || info(host).released) events_.tell(report::HostEnded{host.index});
  check_settled();
  release_stores();
  if (fleet_.all_ended()) tell(JobEvent::AllEnded);
}

void Job::host_message(fleet::Host& host, wire::ToLauncher message) {
  std::visit([&](const auto& m) { handle(host, m); }, message);
}

void Job::handle(fleet::Host& host, const wire::HelloAck& m) {
  events_.tell(report::HostConnected{
      host.index, host.session->is_local() ? report::HostPlace::ThisMachine : report::HostPlace::Remote,
      host.session->peer_address(), m.pid});
}

// Of something that workers did: not before they were started, and not after this moment.
TimePoint Job::on_our_clock(const fleet::Host& host, std::uint64_t agent_ns) const {
  const TimePoint at = host.clock.ours(std::chrono::nanoseconds(agent_ns));
  return std::clamp(at, facts_.started, Clock::now());
}

void Job::handle(fleet::Host& host, const wire::Probed& m) {
  search_->note(host, m);
  if (machine_.state() == JobState::Probing) finish_probing();
}

void Job::handle(fleet::Host& host, const wire::Started& m) {
  for (const wire::StartedWorker& worker : m.workers) {
    ranks_.started(worker.rank, worker.pid);
    events_.tell(report::RankStarted{worker.rank, worker.pid}, on_our_clock(host, m.at_ns));
  }
  info(host).started = true;
  // Input for a worker that does not run yet would be lost.
  if (std::all_of(infos_.begin(), infos_.end(), [](const HostInfo& h) { return h.started; })) stdin_.start();
  if (options_.verbosity == Verbosity::Verbose) {
    console_.say(host.name() + ": " + std::to_string(m.workers.size()) + " workers run");
  }
}

void Job::handle(fleet::Host& host, const wire::Output& m) {
  const TimePoint read_at = on_our_clock(host, m.at_ns);
  if (options_.logs.copy == CopyToOutput::Yes) console_.worker_output(m.rank, m.stream, m.bytes, read_at);
  records_.logs().write(m.rank, m.stream, m.bytes);
  events_.tell(report::RankOutput{m.rank, m.stream, m.bytes.size()});
  progress_.output(m.rank, m.stream, m.bytes);
  if (m.stream == Stream::Stderr) ranks_.wrote_errors(m.rank, m.bytes);
  console_.flush();
  info(host).owed += m.bytes.size();
  give_credit();
}

// The first is enough: those that follow have the same cause.
void Job::log_failed(const Error& why) {
  if (std::exchange(warned_of_logs_, true)) return;
  if (options_.logs.on_fault == OnLogFault::Warn) {
    return console_.say("the logs of ranks are not complete: " + why.message() + "; the job goes on");
  }
  facts_.own_fault = report::Facts::OwnFault{Error(ErrorKind::Io, "the logs of ranks cannot be kept: " + why.message())
                                                 .with_hint("--log-strict asks for that"),
                                             Clock::now()};
  tell(JobEvent::OutputGone);
}

void Job::handle(fleet::Host& host, const wire::LogFailed& m) {
  log_failed(Error(ErrorKind::Io, host.name() + ": " + show(m.why, 500)));
}

void Job::handle(fleet::Host& host, const wire::PipeFailed& m) {
  if (!info(host).failed) fail_host(host, Error(ErrorKind::Io, show(m.why, 1000)));
}

void Job::output_gone(int sys_errno) {
  if (options_.output.when_gone == OutputOptions::Gone::IsIgnored) {
    return console_.say("cannot write the workers' output (" + errno_text(sys_errno) + "); the job goes on without it");
  }
  if (std::exchange(facts_.output_gone, true)) return;
  facts_.output_errno = sys_errno;
  tell(JobEvent::OutputGone);
}

// How much a host may have had taken from it before it is told.
std::uint64_t Job::credit_step(const fleet::Host& host) const {
  const bool local = host.session->is_local();
  return (local ? first_output_window(infos_.size()) : output_window(infos_.size())) / 4;
}

// Held: some host may have used up its credit, and gets no more before our reader has taken what is pending.
report::OutputFlow Job::output_flow() const {
  if (console_.pending() == 0) return report::OutputFlow::Open;
  const bool owing = std::any_of(fleet_.hosts().begin(), fleet_.hosts().end(),
                                 [this](const fleet::Host& host) { return info(host).owed >= credit_step(host); });
  return owing || console_.pending() > kSlowReader ? report::OutputFlow::Held : report::OutputFlow::Open;
}

// A reader that does not keep up stops the flow here: without credit the agents leave the output in the workers' pipes.
void Job::give_credit() {
  if (console_.pending() > kSlowReader) return;
  for (fleet::Host& host : fleet_.hosts()) {
    if (info(host).owed < credit_step(host)) continue;
    host.session->send(wire::Credit{std::exchange(info(host).owed, 0)});
  }
  if (machine_.state() == JobState::Finished) finish();
}

void Job::handle(fleet::Host& host, const wire::ExitedWorker& m) {
  const ExitStatus status = wire::unpack_exit(m);
  stdin_.remove_reader(m.rank);
  const TimePoint at = on_our_clock(host, m.at_ns);
  const bool by_itself = m.ended_by == wire::EndedBy::Itself;
  const auto ending = by_itself ? report::Ending::ByItself : report::Ending::Stopped;
  events_.tell(report::RankExited{m.rank, status, ending}, at);
  const bool some_worked = ranks_.workers_left() > 0;
  const auto weight = ranks_.ended(m.rank, status, ending, at);
  if (some_worked && ranks_.workers_left() == 0) release_servers();
  if (weight == attempt::RankTable::Weight::Nothing) return;
  ranks_.ran_out_of_memory(m.rank, std::exchange(info(host).out_of_memory, {}));
  if (by_itself && options_.on_failure == OnFailure::Abort) tell(JobEvent::WorkerFailed);
}

void Job::handle(fleet::Host& host, const wire::Drained& m) {
  console_.worker_done(m.rank);
  events_.tell(report::RankDrained{m.rank});
  console_.flush();
  if (m.end == wire::DrainEnd::Quiet) {
    console_.say("rank " + std::to_string(m.rank.value()) + " on " + host.name() +
                 " has ended, but something that it started still holds its output; not waiting for it");
  }
}

void Job::handle(fleet::Host& host, const wire::AgentLog& m) {
  if (m.level == wire::LogLevel::Debug && options_.verbosity != Verbosity::Verbose) return;
  if (info(host).remarks == kMostRemarks) return;
  const bool last = ++info(host).remarks == kMostRemarks;
  console_.say(host.name() + ": " + show(m.text, 500) + (last ? " (nothing more of this host is shown)" : ""));
}

void Job::handle(fleet::Host&, const wire::StdinCredit& m) { stdin_.taken(m.rank, m.bytes); }

void Job::handle(fleet::Host& host, const wire::Cleared& m) {
  for (const std::string& left : m.left) facts_.left_behind.push_back(host.name() + ": " + show(left));
}

void Job::handle(fleet::Host& host, const wire::Bye& m) {
  if (!m.reason.empty()) return fail_host(host, Error(ErrorKind::Lost, show(m.reason)));
  const bool before_start = machine_.state() == JobState::Connecting || machine_.state() == JobState::Failing ||
                            machine_.state() == JobState::Probing;
  if (before_start && !info(host).failed) fail_host(host, Error(ErrorKind::Lost, "its agent left before the start"));
}

void Job::handle(fleet::Host&, const wire::ErrorFile& m) { ranks_.explained(m.rank, report::parse_error_file(m.text)); }

void Job::handle(fleet::Host& host, const wire::OutOfMemory& m) { info(host).out_of_memory = m.evidence; }

}  // namespace sml::job
