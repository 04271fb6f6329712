#include "launcher/agent/host_attempt.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <utility>

#include "common/core/transition_table.h"
#include "common/plan/program/mpi_use.h"
#include "common/wire/limits.h"
#include "launcher/agent/core/own_clock.h"
#include "launcher/agent/core/preflight_error.h"

namespace sml::agent {

HostAttempt::HostAttempt(const AttemptDeps& deps, Duration grace)
    : deps_(deps),
      machine_(grace),
      workers_(deps_.system.processes),
      orphans_(deps_.system.processes, workers_, deps_.owner),
      service_context_{.system = deps_.system, .callers = deps_.callers, .owner = *this},
      news_(deps_) {}

// ---- before the start

void HostAttempt::prepare(wire::Prepare m, Answer answer) {
  wire::unpack_environments(m.apps, m.workers);
  starter_.emplace(deps_, std::move(m.apps), m.mark, workers_, services_);
  const WorkerEnvironments& environments = starter_->environments();
  service_context_.attempt = m.attempt;
  for (wire::Worker& spec : m.workers) {
    if (spec.app < environments.count()) workers_.add(deps_.system.loop, *this, std::move(spec));
  }
  if (m.mpi.late.workers == wire::Workers::Spawned) additions_.expect_first();
  answer_ = std::move(answer);
  struct Search {
    wire::Prepare plan;
    WorkerEnvironments environments;
    std::vector<Error> missing{};
  };
  const auto search = std::make_shared<Search>(Search{std::move(m), environments});
  deps_.system.file_work([search] { search->missing = search->environments.find_programs(); },
                         lifetime_.guard([this, search] {
                           if (over()) return;
                           starter_->environments().take_programs(std::move(search->environments));
                           prepare_with(std::move(search->plan), search->missing);
                         }));
}

void HostAttempt::prepare_with(wire::Prepare m, const std::vector<Error>& missing) {
  WorkerEnvironments& environments = starter_->environments();
  wire::Prepared answer;
  const auto hinders = [&answer](const Error& why) { answer.errors.push_back(preflight_error(why)); };
  for (const Error& one : missing) hinders(one);
  if (environments.might_use_mpi() && m.mpi.look == wire::MpiLook::Yes) mpi_watch_.want(m.mpi.pmi_mode);
  if (mpi_watch_.wanted()) answer.mpi = environments.find_mpi_singletons(workers_.specs(), m.mpi.pmi_mode);
  starter_->share_out(m, answer);
  if (Result<std::vector<std::string>> chosen = environments.choose_interfaces(m.interfaces)) {
    answer.addresses = std::move(*chosen);
  } else {
    hinders(chosen.error());
  }
  services_ = make_services(m, workers_.specs(), starter_->shares(), environments, service_context_);
  for (const auto& service : services_) {
    if (Result<void> checked = service->check(answer); !checked) hinders(checked.error());
    if (service->reads_output()) readers_.push_back(service.get());
  }
  if (!m.preload.modules.empty() && answer.errors.empty()) starter_->preload(m.preload);
  std::exchange(answer_, nullptr)(std::move(answer));
}

// ---- from start to end

void HostAttempt::start(wire::Start m) {
  starter_->environments().meet(m);
  start_ = std::move(m);
  for (const auto& service : services_) service->others_start(start_);
  // The machine ignores the event if the attempt has been stopped since.
  deps_.preload.when_settled(lifetime_.guard([this] {
    dispatch(HostEvent::Start);
    deps_.owner.attempt_changed();
  }));
}

void HostAttempt::stop(const wire::Stop& m) {
  if (!is_prepared()) std::exchange(answer_, nullptr)({});
  if (!ending()) stop_target_ = m.target;
  perform(machine_.stop(m.signo, std::chrono::milliseconds(m.grace_ms), Clock::now()));
}

void HostAttempt::stop_by_itself() { perform(machine_.stop_by_itself(Clock::now())); }

void HostAttempt::launcher_lost() { dispatch(HostEvent::LauncherLost); }

bool HostAttempt::ending() const {
  return machine_.state() != HostState::Idle && machine_.state() != HostState::Running;
}

void HostAttempt::dispatch(HostEvent event) {
  const HostState before = machine_.state();
  const HostAction action = machine_.on(event, Clock::now());
  if (action == HostAction::Unexpected) news_.report_ignored(ignored(event, before));
  perform(action);
}

void HostAttempt::perform(HostAction action) {
  switch (action) {
    case HostAction::None:
    case HostAction::Unexpected: return;
    case HostAction::SpawnAll: return spawn_all();
    case HostAction::SignalAll: return signal_all(machine_.stop_signal());
    case HostAction::DropOutput: return wake();
    case HostAction::SignalAllDropOutput: signal_all(machine_.stop_signal()); return wake();
    case HostAction::KillAll: return signal_all(SIGKILL);
    case HostAction::SignalLeft: return orphans_.ask_to_end(SIGTERM);
    case HostAction::EndAttempt: news_.report_memory_kills(); return end_services();  // over() is true now
  }
}

void HostAttempt::spawn_all() {
  for (const auto& service : services_) service->start(start_);
  start_ = {};
  if (additions_.wait()) return;  // the launcher is then sent Started for the added workers
  wire::Started started{.workers = starter_->start(mpi_watch_)};
  mpi_watch_.begin(Clock::now());
  deps_.link.send(std::move(started));
  if (workers_.alive() == 0) end_services();
}

void HostAttempt::fail_rank(Rank rank, wire::FaultKind kind, int code, const std::string& why) {
  const bool news = news_.report(
      wire::RankFault{number(), rank, kind, code, why.substr(0, wire::kMaxText), nanoseconds(Clock::now())});
  if (news && kind == wire::FaultKind::Broken) workers_.signal(rank, SIGKILL);
}

void HostAttempt::signal_all(int signo) {
  additions_.forget();
  if (signo == SIGKILL) end_services();
  const SignalTarget target = signo == SIGKILL ? SignalTarget::Group : stop_target_;
  workers_.ask_to_stop(signo, target);
  orphans_.ask_anew();
  if (target == SignalTarget::Group) orphans_.ask_to_end(signo);
}

void HostAttempt::reaped(pid_t pid, const ExitStatus& status, const Usage& usage, TimePoint now) {
  orphans_.forget(pid);
  if (const Worker* worker = workers_.reaped(pid, status, usage, now)) {
    for (const auto& service : services_) service->worker_ended(worker->rank(), status);
    if (succeeded(status)) look_if_it_was_alone(worker->rank());
    if (workers_.alive() == 0 && !additions_.wait()) end_services();
    return;
  }
  for (const auto& service : services_) {
    if (service->process_ended(pid, status)) return;
  }  // otherwise an orphan that had become a child of the agent
}

void HostAttempt::end_services() const {
  for (const auto& service : services_) service->end();
}

void HostAttempt::settle() {
  for (const auto& worker : workers_.all()) news_.report(*worker);
  look_round();
}

void HostAttempt::look_round() {
  if (workers_.all_reaped() && !additions_.wait()) dispatch(HostEvent::AllReaped);
  const bool busy =
      std::any_of(services_.begin(), services_.end(), [](const auto& service) { return service->is_busy(); });
  if (deps_.link.lost() || (workers_.all_done() && !busy)) dispatch(HostEvent::AllDone);
  const bool killing = machine_.state() == HostState::SweepKilling;
  if (!killing && machine_.state() != HostState::Sweeping) return;
  if (!orphans_.any()) return dispatch(HostEvent::NothingLeft);
  orphans_.ask_to_end(killing ? SIGKILL : SIGTERM);  // orphans that have come since
}

std::optional<TimePoint> HostAttempt::due() const {
  std::optional<TimePoint> first;
  for (const std::optional<TimePoint>& one : {machine_.deadline(), mpi_watch_.due(), workers_.drain_deadline()}) {
    if (one && (!first || *one < *first)) first = one;
  }
  return first;
}

void HostAttempt::on_time(TimePoint now) {
  if (machine_.deadline() && *machine_.deadline() <= now) dispatch(HostEvent::Deadline);
  workers_.check_drain(now);
  if (mpi_watch_.due() && *mpi_watch_.due() <= now) look_for_mpi(now);
}

// ---- reports to the launcher

void HostAttempt::look_for_mpi(TimePoint now) {
  std::vector<MpiWatch::Candidate> candidates = workers_.candidates();
  std::erase_if(candidates, [this](const MpiWatch::Candidate& one) {
    return std::any_of(services_.begin(), services_.end(),
                       [&one](const auto& service) { return service->has_joined(one.rank); });
  });
  if (candidates.empty() || machine_.state() != HostState::Running) return mpi_watch_.end();
  if (std::optional<wire::MpiUse> found = mpi_watch_.look(candidates, now)) deps_.link.send(std::move(*found));
}

void HostAttempt::look_if_it_was_alone(Rank rank) {
  if (!mpi_watch_.wanted() || machine_.state() != HostState::Running) return;
  const bool has_met = std::any_of(services_.begin(), services_.end(),
                                   [rank](const auto& service) { return service->has_ever_joined(rank); });
  if (has_met) return;
  if (const std::optional<std::string> why = mpi_watch_.lone_at_end(rank)) {
    fail_rank(rank, wire::FaultKind::Broken, 125, *why);
  }
}

std::size_t HostAttempt::output_allowance() const {
  const bool taken = std::all_of(readers_.begin(), readers_.end(), [](const auto* one) { return one->takes_output(); });
  return taken ? deps_.link.allowance() : 0;
}

void HostAttempt::worker_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) {
  if (stream != Stream::Results) {
    for (HostService* reader : readers_) reader->output(rank, stream, bytes);
  }
  deps_.link.send_output(rank, stream, read_at, bytes);
}

// Once: the others of the host will have none either.
void HostAttempt::worker_without_terminal(Rank rank, const Error& why) {
  if (std::exchange(terminals_missed_, true)) return;
  service_context_.warn("rank " + std::to_string(rank.value()) +
                        " has a pipe as its standard output: " + why.message());
}

void HostAttempt::worker_took_input(Rank rank, std::size_t bytes) { deps_.link.send(wire::StdinCredit{rank, bytes}); }

void HostAttempt::moved_on() {
  wake();
  deps_.owner.attempt_changed();
}

// ---- requests of the launcher

void HostAttempt::signal_descendants(int signo) {
  workers_.signal(wire::Signal{signo});
  for (const pid_t pid : deps_.system.processes.children()) {
    if (!deps_.guard.is(pid)) deps_.system.processes.signal(pid, signo);
  }
}

void HostAttempt::suspend() {
  signal_descendants(SIGSTOP);
  for (const auto& service : services_) service->suspend();
}

void HostAttempt::resume() {
  signal_descendants(SIGCONT);
  for (const auto& service : services_) service->resume();
}

void HostAttempt::handle(const wire::ToAgent& message) {
  if (const auto* m = std::get_if<wire::Signal>(&message)) return workers_.signal(*m);
  if (const auto* m = std::get_if<wire::StdinData>(&message)) return workers_.feed(m->rank, m->bytes);
  if (const auto* m = std::get_if<wire::StdinEof>(&message)) return workers_.feed_end(m->rank);
  if (const auto* m = std::get_if<wire::AddWorkers>(&message)) {
    const bool run = machine_.state() == HostState::Running && (workers_.alive() > 0 || additions_.expects_first());
    return additions_.prepare(*m, run ? &*starter_ : nullptr);
  }
  for (const auto& service : services_) service->handle(message);
  if (const auto* m = std::get_if<wire::StartAdded>(&message)) {
    additions_.start(*m, *starter_, mpi_watch_);
    additions_changed();
  }
}

void HostAttempt::additions_changed() {
  deps_.owner.attempt_changed();
  if (workers_.alive() == 0 && !additions_.wait()) end_services();
}

wire::Joined HostAttempt::joined(const wire::AskJoined& asked) const {
  wire::Joined answer;
  for (const auto& service : services_) {
    const std::optional<HostService::Joiners> came = service->joiners();
    if (!came) continue;
    const Duration since = Clock::now() - came->first;
    answer.count = came->count;
    answer.since_first_ms =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
  }
  if (asked.port != 0) answer.missing = workers_.without_connection(asked.port, deps_.system.network);
  if (asked.port != 0 && answer.count == 0) answer.count = workers_.alive() - answer.missing.size();
  if (asked.port != 0 || answer.count != 0) return answer;
  if (machine_.state() != HostState::Running) {
    for (const auto& service : services_) answer.count += service->ever_joined();
  } else if (asked.torch_look == wire::TorchLook::Yes) {
    for (const pid_t pid : workers_.pids()) answer.with_torch += has_torch(pid) ? 1 : 0;
  }
  return answer;
}

void HostAttempt::sum_up() const {
  for (const auto& service : services_) service->sum_up();
}

}  // namespace sml::agent
