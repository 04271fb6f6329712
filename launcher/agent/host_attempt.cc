#include "launcher/agent/host_attempt.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "common/core/switch_point.h"
#include "common/os/descendants.h"
#include "common/os/fd.h"
#include "common/plan/mpi_use.h"
#include "common/wire/limits.h"
#include "launcher/agent/leftovers.h"
#include "launcher/agent/own_clock.h"

namespace sml::agent {

using supervise::HostAction;
using supervise::HostEvent;
using supervise::HostState;
using supervise::WorkerAction;

namespace {

// Wide pipes let workers write on while we are busy. All pipes of a user who is not root count against one limit (64 MB
// by default), beyond which the system makes tiny ones for all his programs.
constexpr int kWidestPipe = 256 << 10;
constexpr int kPipesInAll = 8 << 20;
constexpr std::size_t kFirstOwnDescriptor = 3;

wire::Obstacle obstacle(const Error& e) {
  return {.kind = static_cast<std::uint8_t>(e.kind()),
          .message = e.message().substr(0, wire::kMaxText),
          .hint = e.hint().substr(0, wire::kMaxText)};
}

void append(plan::Environment& to, const plan::Environment& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

HostAttempt::HostAttempt(const AttemptSurroundings& around, AttemptOwner& owner, Duration grace)
    : around_(around),
      owner_(owner),
      machine_(grace),
      service_context_{.loop = around.loop,
                       .callers = around.callers,
                       .scratch = around.scratch,
                       .tell = [&link = around.link](const wire::ToLauncher& m) { link.send(m); },
                       .fail_rank = [this](Rank rank, wire::FaultKind kind, int code,
                                           const std::string& why) { fail_rank(rank, kind, code, why); }} {}

// ---- before the start

wire::Prepared HostAttempt::prepare(wire::Prepare m) {
  environments_.emplace(std::move(m.apps), around_.login);
  number_ = m.attempt;
  service_context_.attempt = m.attempt;
  mark_ = m.mark;
  for (wire::Worker& spec : m.workers) {
    if (spec.app < environments_->count()) workers_.add(around_.loop, *this, std::move(spec));
  }
  wire::Prepared answer;
  const auto hinders = [&answer](const Error& why) { answer.obstacles.push_back(obstacle(why)); };
  for (const Error& missing : environments_->find_programs()) hinders(missing);
  looks_for_mpi_ = might_use_mpi() ? m.mpi.look : wire::MpiLook::No;
  if (looks_for_mpi_ == wire::MpiLook::Yes) answer.mpi = environments_->find_lone_mpi(workers_.specs(), m.mpi.meeting);
  share_out(m, answer);
  if (Result<std::vector<std::string>> chosen = environments_->choose_interfaces(m.interfaces)) {
    answer.addresses = std::move(*chosen);
  } else {
    hinders(chosen.error());
  }
  services_ = make_services(m, workers_.specs(), shares_, *environments_, service_context_);
  for (const auto& service : services_) {
    if (Result<void> checked = service->check(answer); !checked) hinders(checked.error());
    if (service->reads_output()) readers_.push_back(service.get());
  }
  if (!m.preload.modules.empty() && answer.obstacles.empty()) preload(m.preload);
  return answer;
}

bool HostAttempt::might_use_mpi() const {
  for (std::uint32_t app = 0; app < environments_->count(); ++app) {
    if (environments_->mpi_chance(app) == plan::MpiChance::Yes) return true;
  }
  return false;
}

// For the program of the first worker. What is not known yet, or not alike for all, counts for no import.
void HostAttempt::preload(const wire::PreloadWish& wish) {
  if (workers_.count() == 0) return;
  const std::uint32_t app = workers_.all().front()->spec().app;
  std::vector<plan::Environment> all;
  for (std::size_t i = 0; i < workers_.count(); ++i) {
    const wire::Worker& spec = workers_.all()[i]->spec();
    if (spec.app != app) continue;
    plan::Environment own = spec.environment;
    append(own, shares_[i].variables);
    if (!mark_.empty()) own.push_back(mark_entry(mark_));
    all.push_back(plan::with_job(environments_->shared(app), own));
  }
  const plan::Environment environment = plan::common_environment(all);
  Result<os::UniqueFd> null = os::open_dev_null();
  around_.preload.prepare({.modules = wish.modules,
                           .limit = std::chrono::milliseconds(wish.limit_ms),
                           .argv = environments_->app(app).argv,
                           .process = {.program = environments_->program(app),
                                       .argv = {},
                                       .environment = environment,
                                       .working_directory = environments_->app(app).working_directory,
                                       .stdin_fd = null ? null->get() : -1,
                                       .descriptor_limit = around_.descriptor_limit,
                                       .ignored_signals = around_.ignored_signals}});
}

void HostAttempt::share_out(const wire::Prepare& m, wire::Prepared& answer) {
  std::vector<ShareRequest> requests;
  for (const wire::Worker* spec : workers_.specs()) requests.push_back({*spec, environments_->shared(spec->app)});
  Shares shares = sml::agent::share_out(m.binding, m.devices, requests);
  shares_ = std::move(shares.workers);
  answer.warnings = std::move(shares.warnings);
  for (const Error& e : shares.obstacles) answer.obstacles.push_back(obstacle(e));
  if (m.binding.report == plan::ReportBindings::No) return;
  for (std::size_t i = 0; i < workers_.count(); ++i) {
    answer.bindings.push_back({workers_.all()[i]->rank(), shares_[i].words});
  }
}

// ---- from start to end

void HostAttempt::start(wire::Start m) {
  environments_->meet(m);
  start_ = std::move(m);
  // Nothing, where it has been stopped since.
  around_.preload.when_settled(lifetime_.guard([this] {
    perform(machine_.start(Clock::now()));
    owner_.attempt_changed();
  }));
}

void HostAttempt::stop(const wire::Stop& m) {
  if (!ending()) stop_target_ = m.target;
  perform(machine_.stop(m.signo, std::chrono::milliseconds(m.grace_ms), Clock::now()));
}

void HostAttempt::launcher_lost() { perform(machine_.on(HostEvent::LauncherLost, Clock::now())); }

bool HostAttempt::ending() const {
  return machine_.state() != HostState::Idle && machine_.state() != HostState::Running;
}

void HostAttempt::perform(HostAction action) {
  switch (action) {
    case HostAction::None: return;
    case HostAction::SpawnAll: return spawn_all();
    case HostAction::SignalAll: return signal_all(machine_.stop_signal());
    case HostAction::DropOutput: return workers_.discard_output();
    case HostAction::SignalAllDropOutput: signal_all(machine_.stop_signal()); return workers_.discard_output();
    case HostAction::KillAll: return signal_all(SIGKILL);
    case HostAction::SignalLeft: return signal_orphans(SIGTERM);
    case HostAction::Leave: return end_services();  // over()
  }
}

plan::Environment HostAttempt::own_variables(const Worker& worker, const WorkerShare& share) const {
  plan::Environment out;
  if (!mark_.empty()) out.push_back(mark_entry(mark_));
  append(out, share.variables);
  if (const std::string file = around_.scratch.error_file(worker.rank()); !file.empty()) {
    out.push_back("TORCHELASTIC_ERROR_FILE=" + file);
  }
  for (const auto& service : services_) append(out, service->variables(worker.rank()));
  return out;
}

void HostAttempt::spawn_all() {
  SML_SWITCH_POINT("workers are about to start");
  for (const auto& service : services_) service->start(start_);
  start_ = {};
  wire::Started started{.workers = spawn_workers()};
  if (looks_for_mpi_ == wire::MpiLook::Yes) mpi_watch_.begin(Clock::now());
  started.at_ns = nanoseconds(Clock::now());
  around_.link.send(std::move(started));
  if (workers_.alive() == 0) end_services();
}

std::vector<wire::StartedWorker> HostAttempt::spawn_workers() {
  os::UniqueFd dev_null;
  if (Result<os::UniqueFd> null = os::open_dev_null()) dev_null = std::move(*null);
  std::vector<wire::StartedWorker> out;
  for (std::size_t i = 0; i < workers_.count(); ++i) {
    Worker& worker = *workers_.all()[i];
    spawn(worker, shares_[i], dev_null.get());
    if (!worker.machine().alive()) continue;
    workers_.started(worker);
    for (const auto& service : services_) service->worker_started(worker.rank(), worker.pid());
    out.push_back({worker.rank(), worker.pid()});
  }
  return out;
}

void HostAttempt::spawn(Worker& worker, const WorkerShare& share, int dev_null) {
  const std::uint32_t app = worker.spec().app;
  const auto pipes = static_cast<int>(workers_.count()) * 2;
  plan::Environment own = own_variables(worker, share);
  std::vector<os::UniqueFd> keep;
  std::vector<int> descriptors;
  for (const auto& service : services_) {
    Result<std::vector<HostService::OwnDescriptor>> given = service->descriptors(worker.rank());
    if (!given) return worker.give_up({SpawnStep::Pipe, EMFILE});
    for (HostService::OwnDescriptor& one : *given) {
      own.push_back(one.variable + "=" + std::to_string(kFirstOwnDescriptor + descriptors.size()));
      descriptors.push_back(one.descriptor.get());
      keep.push_back(std::move(one.descriptor));
    }
  }
  if (looks_for_mpi_ == wire::MpiLook::Yes) mpi_offers_[worker.rank()] = plan::process_manager_entries(own);
  const plan::Environment environment = environments_->of(worker.spec(), own);
  worker.spawn({.program = environments_->program(app),
                .argv = environments_->app(app).argv,
                .environment = environment,
                .working_directory = environments_->app(app).working_directory,
                .dev_null = dev_null,
                .descriptor_limit = around_.descriptor_limit,
                .pipe_size = std::min(kWidestPipe, kPipesInAll / pipes),
                .ignored_signals = around_.ignored_signals,
                .binding = share.binding ? &*share.binding : nullptr,
                .more_descriptors = descriptors,
                .start = [this](const os::WorkerProcess& process) { return around_.preload.spawn(process); }});
}

// What has been told of a rank before counts: its process, too, ends of it.
void HostAttempt::fail_rank(Rank rank, wire::FaultKind kind, int code, const std::string& why) {
  if (!faults_.insert(rank).second) return;
  around_.link.send(
      wire::RankFault{number_, rank, kind, code, why.substr(0, wire::kMaxText), nanoseconds(Clock::now())});
  if (kind == wire::FaultKind::Broken) workers_.signal(rank, SIGKILL);
}

void HostAttempt::signal_all(int signo) {
  SML_SWITCH_POINT("workers are told to end");
  if (signo == SIGKILL) end_services();
  const SignalTarget target = signo == SIGKILL ? SignalTarget::Group : stop_target_;
  workers_.ask_to_stop(signo, target);
  asked_orphans_.clear();
  if (target == SignalTarget::Group) signal_orphans(signo);
}

// Whatever else has become our child: it left its worker's group, or its worker died. Each once per signal, since more
// of them come as their parents end.
void HostAttempt::signal_orphans(int signo) {
  for (const pid_t pid : children()) {
    if (workers_.is_worker(pid) || !asked_orphans_.insert(pid).second) continue;
    ::kill(pid, signo);
    if (signo != SIGKILL) ::kill(pid, SIGCONT);
  }
}

std::vector<pid_t> HostAttempt::children() const {
  std::vector<pid_t> out = os::children();
  std::erase_if(out, [this](pid_t pid) { return around_.preload.is(pid); });
  return out;
}

void HostAttempt::reaped(pid_t pid, const ExitStatus& status, const Usage& usage, TimePoint now) {
  asked_orphans_.erase(pid);
  if (const Worker* worker = workers_.reaped(pid, status, usage, now)) {
    for (const auto& service : services_) service->worker_ended(worker->rank(), status);
    if (workers_.alive() == 0) end_services();
    return;
  }
  for (const auto& service : services_) {
    if (service->process_ended(pid, status)) return;
  }  // else an orphan that had come to us
}

void HostAttempt::end_services() const {
  for (const auto& service : services_) service->end();
}

void HostAttempt::settle() {
  for (const auto& worker : workers_.all()) report(*worker);
  tell_machine();
}

void HostAttempt::tell_machine() {
  if (machine_.state() == HostState::Idle || over()) return;
  if (workers_.all_reaped()) perform(machine_.on(HostEvent::AllReaped, Clock::now()));
  if (around_.link.lost() || workers_.all_done()) perform(machine_.on(HostEvent::AllDone, Clock::now()));
  const bool killing = machine_.state() == HostState::SweepKilling;
  if (!killing && machine_.state() != HostState::Sweeping) return;
  if (children().empty()) return perform(machine_.on(HostEvent::NothingLeft, Clock::now()));
  signal_orphans(killing ? SIGKILL : SIGTERM);  // those that have come since
}

std::optional<TimePoint> HostAttempt::due() const {
  std::optional<TimePoint> first;
  for (const std::optional<TimePoint>& one : {machine_.deadline(), mpi_watch_.due(), workers_.drain_deadline()}) {
    if (one && (!first || *one < *first)) first = one;
  }
  return first;
}

void HostAttempt::on_time(TimePoint now) {
  if (machine_.deadline() && *machine_.deadline() <= now) perform(machine_.on(HostEvent::Deadline, now));
  workers_.check_drain(now);
  if (mpi_watch_.due() && *mpi_watch_.due() <= now) look_for_mpi(now);
}

// ---- what the launcher is told

void HostAttempt::report(Worker& worker) {
  const WorkerAction action = worker.take_report();
  if (action == WorkerAction::None) return;
  if (action == WorkerAction::ReportExit || action == WorkerAction::ReportExitAndDrained) {
    send_evidence(worker);
    SML_PLANT("a lost exit frame") return;
    const auto ended_by = worker.machine().asked_to_stop() ? wire::EndedBy::Us : wire::EndedBy::Itself;
    wire::ExitedWorker exit = wire::pack_exit(worker.rank(), worker.status(), ended_by, nanoseconds(worker.ended_at()));
    exit.usage = worker.usage();
    around_.link.send(std::move(exit));
  }
  if (action != WorkerAction::ReportExit) {
    const auto end = action == WorkerAction::AbandonOutput ? wire::DrainEnd::Quiet : wire::DrainEnd::Eof;
    around_.link.send(wire::Drained{worker.rank(), end});
  }
}

// What may say why it failed, before the news that it did.
void HostAttempt::send_evidence(const Worker& worker) {
  if (succeeded(worker.status())) return;
  std::string text = around_.scratch.take_error_file(worker.rank(), wire::kMaxErrorFile);
  if (!text.empty()) around_.link.send(wire::ErrorFile{.text = std::move(text), .rank = worker.rank()});
  const auto* signaled = std::get_if<Signaled>(&worker.status());
  if (signaled == nullptr || signaled->signo != SIGKILL || worker.machine().asked_to_stop()) return;
  if (auto kills = around_.oom_watch.look())
    around_.link.send(wire::OutOfMemory{.kills = kills->count, .evidence = std::move(kills->evidence)});
}

void HostAttempt::look_for_mpi(TimePoint now) {
  std::vector<MpiWatch::Candidate> candidates = workers_.candidates();
  std::erase_if(candidates, [this](const MpiWatch::Candidate& one) {
    return std::any_of(services_.begin(), services_.end(),
                       [&one](const auto& service) { return service->has_joined(one.rank); });
  });
  for (MpiWatch::Candidate& one : candidates) one.offer = mpi_offers_[one.rank];
  if (candidates.empty() || machine_.state() != HostState::Running) return mpi_watch_.end();
  if (std::optional<wire::MpiUse> found = mpi_watch_.look(candidates, now)) around_.link.send(std::move(*found));
}

void HostAttempt::worker_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) {
  for (HostService* reader : readers_) reader->output(rank, stream, bytes);
  around_.link.send_output(rank, stream, read_at, bytes);
}

void HostAttempt::worker_took_input(Rank rank, std::size_t bytes) { around_.link.send(wire::StdinCredit{rank, bytes}); }

// ---- what the launcher asks

void HostAttempt::suspend() {
  workers_.signal(wire::Signal{SIGSTOP});
  for (const pid_t pid : os::children()) ::kill(pid, SIGSTOP);
  for (const auto& service : services_) service->suspend();
}

void HostAttempt::resume() {
  workers_.signal(wire::Signal{SIGCONT});
  for (const pid_t pid : os::children()) ::kill(pid, SIGCONT);
  for (const auto& service : services_) service->resume();
}

void HostAttempt::hear(const wire::ToAgent& message) {
  if (const auto* m = std::get_if<wire::Signal>(&message)) return workers_.signal(*m);
  if (const auto* m = std::get_if<wire::StdinData>(&message)) return workers_.feed(m->rank, m->bytes);
  if (const auto* m = std::get_if<wire::StdinEof>(&message)) return workers_.feed_end(m->rank);
  for (const auto& service : services_) service->hear(message);
}

wire::Joined HostAttempt::joined(std::uint16_t port) const {
  wire::Joined answer;
  for (const auto& service : services_) {
    const std::optional<HostService::Joiners> came = service->joiners();
    if (!came) continue;
    const Duration since = Clock::now() - came->first;
    answer.count = came->count;
    answer.since_first_ms =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
  }
  if (port != 0) answer.missing = workers_.without_connection(port);
  if (port != 0 && answer.count == 0) answer.count = workers_.alive() - answer.missing.size();
  if (port != 0 || answer.count != 0) return answer;
  if (machine_.state() == HostState::Running) {
    for (const pid_t pid : workers_.pids()) answer.with_torch += has_torch(pid) ? 1 : 0;
  } else {
    for (const auto& service : services_) answer.count += service->ever_joined();
  }
  return answer;
}

void HostAttempt::sum_up() const {
  for (const auto& service : services_) service->sum_up();
}

}  // namespace sml::agent
