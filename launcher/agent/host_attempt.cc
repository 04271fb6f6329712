#include "launcher/agent/host_attempt.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/os/descendants.h"
#include "common/os/fd.h"
#include "common/wire/limits.h"
#include "launcher/agent/channel_folders.h"
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

wire::Obstacle obstacle(const Error& e) {
  return {.kind = static_cast<std::uint8_t>(e.kind()),
          .message = e.message().substr(0, wire::kMaxText),
          .hint = e.hint().substr(0, wire::kMaxText)};
}

void append(plan::Environment& to, const plan::Environment& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

HostAttempt::HostAttempt(const AttemptSurroundings& around, AttemptOwner& owner, Duration grace)
    : around_(around), owner_(owner), machine_(grace) {}

// ---- before the start

wire::Prepared HostAttempt::prepare(wire::Prepare m) {
  environments_.emplace(std::move(m.apps), around_.login);
  mark_ = m.mark;
  for (wire::Worker& spec : m.workers) {
    if (spec.app < environments_->count()) workers_.add(around_.loop, *this, std::move(spec));
  }
  wire::Prepared answer;
  const auto hinders = [&answer](const Error& why) { answer.obstacles.push_back(obstacle(why)); };
  for (const Error& missing : environments_->find_programs()) hinders(missing);
  looks_for_mpi_ = m.mpi;
  if (looks_for_mpi_ == wire::MpiLook::Yes) answer.mpi = environments_->find_mpi_programs(workers_.specs());
  share_out(m, answer);
  if (Result<void> planned = plan_pipes(m); !planned) hinders(planned.error());
  share_channels(m.channels, answer);
  if (Result<void> planned = plan_logs(m.logs); !planned) hinders(planned.error());
  if (Result<std::vector<std::string>> chosen = environments_->choose_interfaces(m.interfaces)) {
    answer.addresses = std::move(*chosen);
  } else {
    hinders(chosen.error());
  }
  reserve_stores(m.rendezvous, answer);
  if (Result<std::vector<std::uint16_t>> ports = reserve_ports(m.ports)) {
    answer.ports = std::move(*ports);
  } else {
    hinders(ports.error());
  }
  return answer;
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

Result<void> HostAttempt::plan_pipes(wire::Prepare& m) {
  if (m.pipes.channels.empty() || m.pipes.readers.empty() || environments_->count() == 0) return {};
  pipes_.emplace(
      around_.loop, around_.scratch, std::move(m.pipes), environments_->shared(0),
      Pipes::Owner{.failed = [this](const Error& why) { around_.link.send(wire::PipeFailed{why.message()}); },
                   .warn = [this](const std::string& text) { warn(text); }});
  return pipes_->check();
}

void HostAttempt::share_channels(std::span<const plan::HostChannel> channels, wire::Prepared& answer) {
  if (channels.empty()) return;
  Result<ChannelFolders> made = make_channel_folders(channels, workers_.count(), around_.scratch.path());
  if (!made) return answer.obstacles.push_back(obstacle(made.error()));
  for (std::size_t i = 0; i < shares_.size(); ++i) append(shares_[i].variables, made->variables[i]);
  answer.warnings.insert(answer.warnings.end(), made->warnings.begin(), made->warnings.end());
}

Result<void> HostAttempt::plan_logs(const wire::WorkerLogs& rules) {
  std::vector<std::string> paths;
  for (const wire::Worker* spec : workers_.specs()) {
    log_index_[spec->rank] = paths.size();
    paths.push_back(spec->stdout_log);
    paths.push_back(spec->stderr_log);
  }
  if (std::all_of(paths.begin(), paths.end(), [](const std::string& path) { return path.empty(); })) return {};
  const auto overwrite = rules.overwrite == wire::LogOverwrite::Yes ? os::Overwrite::Yes : os::Overwrite::No;
  logs_.emplace(os::LogRules{.max_size = rules.max_size, .overwrite = overwrite}, std::move(paths));
  return logs_->check();
}

void HostAttempt::reserve_stores(wire::Rendezvous wish, wire::Prepared& answer) {
  if (wish == wire::Rendezvous::None) return;
  const bool alone = wish == wire::Rendezvous::ReserveAlone;
  Result<RendezvousStores> stores = RendezvousStores::reserve(alone ? Reach::ThisMachine : Reach::Network);
  if (!stores) return answer.obstacles.push_back(obstacle(stores.error()));
  answer.port = stores->port();
  answer.horovod_port = stores->horovod_port();
  stores_ = std::move(*stores);
}

Result<std::vector<std::uint16_t>> HostAttempt::reserve_ports(std::uint32_t count) {
  std::vector<std::uint16_t> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    Result<RendezvousPort> port = RendezvousPort::reserve(Reach::Network);
    if (!port) return port.error();
    port->stop_listening();
    out.push_back(port->port());
    reserved_ports_.push_back(std::move(*port));
  }
  return out;
}

// ---- from start to end

void HostAttempt::start(wire::Start m) {
  if (stores_) {
    stores_->serve(
        around_.loop, m.stores, around_.callers, [this](const wire::AskVouch& ask) { around_.link.send(ask); },
        [this](const std::string& text) { warn(text); });
  }
  environments_->meet(m);
  perform(machine_.start(Clock::now()));
}

void HostAttempt::stop(int signo, Duration grace) { perform(machine_.stop(signo, grace, Clock::now())); }

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
    case HostAction::Leave: return;  // over()
  }
}

plan::Environment HostAttempt::own_variables(const Worker& worker, const WorkerShare& share) const {
  plan::Environment out;
  if (!mark_.empty()) out.push_back(mark_entry(mark_));
  append(out, share.variables);
  if (const std::string file = around_.scratch.error_file(worker.rank()); !file.empty()) {
    out.push_back("TORCHELASTIC_ERROR_FILE=" + file);
  }
  if (pipes_) append(out, pipes_->variables(worker.rank()));
  return out;
}

void HostAttempt::spawn_all() {
  os::UniqueFd dev_null;
  if (Result<os::UniqueFd> null = os::open_dev_null()) dev_null = std::move(*null);
  if (logs_) {
    if (Result<void> made = logs_->create(); !made) around_.link.send(wire::LogFailed{made.error().message()});
  }
  if (pipes_) pipes_->start();
  wire::Started started;
  const auto pipes = static_cast<int>(workers_.count()) * 2;
  for (std::size_t i = 0; i < workers_.count(); ++i) {
    Worker& worker = *workers_.all()[i];
    const std::uint32_t app = worker.spec().app;
    const plan::Environment environment = environments_->of(worker.spec(), own_variables(worker, shares_[i]));
    worker.spawn({.program = environments_->program(app),
                  .argv = environments_->app(app).argv,
                  .environment = environment,
                  .working_directory = environments_->app(app).working_directory,
                  .dev_null = dev_null.get(),
                  .descriptor_limit = around_.descriptor_limit,
                  .pipe_size = std::min(kWidestPipe, kPipesInAll / pipes),
                  .ignored_signals = around_.ignored_signals,
                  .binding = shares_[i].binding ? &*shares_[i].binding : nullptr});
    if (!worker.machine().alive()) continue;
    workers_.started(worker);
    started.workers.push_back({worker.rank(), worker.pid()});
  }
  if (looks_for_mpi_ == wire::MpiLook::Yes) mpi_watch_.begin(Clock::now());
  started.at_ns = nanoseconds(Clock::now());
  around_.link.send(std::move(started));
  if (pipes_ && workers_.alive() == 0) pipes_->end();
}

void HostAttempt::signal_all(int signo) {
  if (pipes_ && signo == SIGKILL) pipes_->end();
  workers_.ask_to_stop(signo);
  asked_orphans_.clear();
  signal_orphans(signo);
}

// Whatever else has become our child: it left its worker's group, or its worker died. Each once per signal, since more
// of them come as their parents end.
void HostAttempt::signal_orphans(int signo) {
  for (const pid_t pid : os::children()) {
    if (workers_.is_worker(pid) || !asked_orphans_.insert(pid).second) continue;
    ::kill(pid, signo);
    if (signo != SIGKILL) ::kill(pid, SIGCONT);
  }
}

void HostAttempt::reaped(pid_t pid, const ExitStatus& status, TimePoint now) {
  asked_orphans_.erase(pid);
  if (pipes_ && pipes_->is_feeder(pid)) return pipes_->feeder_ended(status);
  const Worker* worker = workers_.reaped(pid, status, now);
  if (worker == nullptr || !pipes_) return;  // else an orphan that had come to us
  pipes_->worker_ended(worker->rank());
  if (workers_.alive() == 0) pipes_->end();
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
  if (os::children().empty()) return perform(machine_.on(HostEvent::NothingLeft, Clock::now()));
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
    const auto ended_by = worker.machine().asked_to_stop() ? wire::EndedBy::Us : wire::EndedBy::Itself;
    around_.link.send(wire::pack_exit(worker.rank(), worker.status(), ended_by, nanoseconds(worker.ended_at())));
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
  const std::vector<MpiWatch::Candidate> candidates = workers_.candidates();
  if (candidates.empty() || machine_.state() != HostState::Running) return mpi_watch_.end();
  if (std::optional<wire::MpiUse> found = mpi_watch_.look(candidates, now)) around_.link.send(std::move(*found));
}

void HostAttempt::worker_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) {
  if (logs_) log(rank, stream, bytes);
  around_.link.send_output(rank, stream, read_at, bytes);
}

void HostAttempt::log(Rank rank, wire::Stream stream, std::string_view bytes) {
  const std::size_t file = log_index_.at(rank) + (stream == wire::Stream::Stderr ? 1 : 0);
  if (Result<void> kept = logs_->write(file, bytes); !kept) around_.link.send(wire::LogFailed{kept.error().message()});
}

void HostAttempt::worker_took_input(Rank rank, std::size_t bytes) { around_.link.send(wire::StdinCredit{rank, bytes}); }

// ---- what the launcher asks

void HostAttempt::feed(const wire::StdinData& m) {
  if (Worker* worker = workers_.find(m.rank)) worker->feed(m.bytes);
}

void HostAttempt::feed_end(Rank rank) {
  if (Worker* worker = workers_.find(rank)) worker->feed_end();
}

void HostAttempt::suspend() {
  workers_.signal(SIGSTOP);
  for (const pid_t pid : os::children()) ::kill(pid, SIGSTOP);
  if (stores_) stores_->suspend();
}

void HostAttempt::resume() {
  workers_.signal(SIGCONT);
  for (const pid_t pid : os::children()) ::kill(pid, SIGCONT);
  if (stores_) stores_->resume();
}

void HostAttempt::ruled(const wire::Ruled& m) {
  if (stores_) stores_->ruled(m);
}

wire::Joined HostAttempt::joined(std::uint16_t port) const {
  wire::Joined answer = stores_ ? stores_->joined(Clock::now()) : wire::Joined{};
  if (port != 0) answer.missing = workers_.without_connection(port);
  if (port != 0 && answer.count == 0) answer.count = workers_.alive() - answer.missing.size();
  if (port == 0 && answer.count == 0) {
    for (const pid_t pid : workers_.pids()) answer.with_torch += has_torch(pid) ? 1 : 0;
  }
  return answer;
}

void HostAttempt::sum_up() const {
  if (stores_) stores_->sum_up();
}

}  // namespace sml::agent
