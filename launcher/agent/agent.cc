#include "launcher/agent/agent.h"

#include <algorithm>
#include <csignal>
#include <set>

#include <unistd.h>

#include <boost/asio/post.hpp>

#include "common/core/text.h"
#include "common/os/cgroup.h"
#include "common/os/connections.h"
#include "common/os/descendants.h"
#include "common/os/machine_identity.h"
#include "common/plan/meeting_wishes.h"
#include "common/wire/limits.h"
#include "launcher/agent/channel_folders.h"
#include "launcher/agent/inspection.h"
#include "launcher/agent/leftovers.h"
#include "launcher/agent/programs.h"
#include "launcher/agent/route_interface.h"

namespace sml::agent {

using supervise::HostAction;
using supervise::HostEvent;
using supervise::HostState;
using supervise::WorkerAction;

namespace {

constexpr Duration kDefaultGrace = std::chrono::seconds(10);
constexpr Duration kStoppedFor = std::chrono::seconds(1);  // a timer that is so late did not run

// Wide pipes let workers write on while we are busy. All pipes of a user who is not root count against one limit (64 MB
// by default), beyond which the system makes tiny ones for all his programs.
constexpr int kWidestPipe = 256 << 10;
constexpr int kPipesInAll = 8 << 20;

std::uint64_t nanoseconds(TimePoint t) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count());
}

wire::Obstacle obstacle(const Error& e) {
  return {.kind = static_cast<std::uint8_t>(e.kind()),
          .message = e.message().substr(0, wire::kMaxText),
          .hint = e.hint().substr(0, wire::kMaxText)};
}

}  // namespace

Agent::Agent(boost::asio::io_context& loop, plan::Environment login_environment, unsigned long descriptor_limit,
             const ScratchFolder& scratch, Pact& pact, Duration silence)
    : loop_(loop),
      login_environment_(std::move(login_environment)),
      descriptor_limit_(descriptor_limit),
      ignored_signals_(os::ignored_signals()),
      link_(loop, STDIN_FILENO, STDOUT_FILENO,
            {.message = [this](wire::ToAgent m) { on_message(std::move(m)); },
             .lost = [this](const Error& why) { launcher_lost(why); },
             .drained = [this] { wake_workers(); }}),
      signals_(loop, SIGCHLD, SIGTERM, SIGINT),
      timer_(loop),
      machine_(kDefaultGrace),
      heartbeat_timeout_(silence),
      last_heard_(Clock::now()),
      scratch_(scratch),
      pact_(pact),
      callers_(loop) {
  for (const int signo : {SIGHUP, kParentDied}) signals_.add(signo);
}

void Agent::run() {
  link_.start();
  await_signals();
  arm_timer();
  loop_.run();
}

// ---- messages

void Agent::on_message(wire::ToAgent message) {
  last_heard_ = Clock::now();
  if (!greeted_ && !std::holds_alternative<wire::Hello>(message)) return;  // nobody whom we know
  resume();
  std::visit([this](auto& m) { handle(m); }, message);
}

void Agent::handle(wire::Hello& m) {
  if (m.version != wire::kProtocolVersion) {
    link_.send(wire::Bye{.reason = "this agent speaks protocol " + std::to_string(wire::kProtocolVersion) +
                                   ", the launcher " + std::to_string(m.version),
                         .left = {}});
    left_ = true;
    return settle();
  }
  greeted_ = true;
  heartbeat_timeout_ = std::chrono::milliseconds(m.heartbeat_timeout_ms);
  pact_.stand_still_ms = m.heartbeat_timeout_ms * 2;  // after the launcher has judged: its words tell more
  machine_ = supervise::HostMachine(std::chrono::milliseconds(m.grace_ms));
  link_.grant(m.credit);
  link_.send(wire::HelloAck{.version = wire::kProtocolVersion,
                            .build_id = SML_VERSION,
                            .pid = ::getpid(),
                            .now_ns = nanoseconds(Clock::now()),
                            .addresses = own_addresses(),
                            .machine = os::machine_identity(),
                            .cgroup = os::Cgroup::current(),
                            .scratch = scratch_.path()});
}

void Agent::handle(wire::Prepare& m) {
  if (!workers_.empty()) return;
  apps_ = std::move(m.apps);
  mark_ = m.mark;
  for (wire::Worker& spec : m.workers) {
    if (spec.app >= apps_.size()) continue;
    workers_.push_back(std::make_unique<Worker>(loop_, static_cast<WorkerOwner&>(*this), std::move(spec)));
    by_rank_[workers_.back()->rank()] = workers_.back().get();
  }
  compose_environments();
  wire::Prepared answer{.obstacles = find_programs()};
  looks_for_mpi_ = m.mpi;
  answer.mpi = find_mpi_programs();
  share_out(m, answer);
  if (Result<void> planned = plan_pipes(m); !planned) answer.obstacles.push_back(obstacle(planned.error()));
  share_channels(m.channels, answer);
  if (Result<void> planned = plan_logs(m.logs); !planned) answer.obstacles.push_back(obstacle(planned.error()));
  if (Result<void> chosen = choose_interfaces(m.interfaces); !chosen)
    answer.obstacles.push_back(obstacle(chosen.error()));
  answer.addresses = chosen_interfaces_.addresses;
  if (m.rendezvous != wire::Rendezvous::None) {
    const bool alone = m.rendezvous == wire::Rendezvous::ReserveAlone;
    Result<RendezvousStores> stores = RendezvousStores::reserve(alone ? Reach::ThisMachine : Reach::Network);
    if (stores) {
      answer.port = stores->port();
      answer.horovod_port = stores->horovod_port();
      stores_ = std::move(*stores);
    } else {
      answer.obstacles.push_back(obstacle(stores.error()));
    }
  }
  if (Result<std::vector<std::uint16_t>> ports = reserve_ports(m.ports)) {
    answer.ports = std::move(*ports);
  } else {
    answer.obstacles.push_back(obstacle(ports.error()));
  }
  link_.send(std::move(answer));
}

// Nothing else is done by this agent, so nobody minds that the loop waits.
void Agent::handle(wire::EndLeft& m) {
  if (!workers_.empty()) return;
  Leftovers leftovers = end_leftovers(m);
  link_.send(wire::LeftEnded{leftovers.ended});
  link_.send(wire::Bye{.reason = {}, .left = std::move(leftovers.left)});
  left_ = true;
  settle();
}

Result<std::vector<std::uint16_t>> Agent::reserve_ports(std::uint32_t count) {
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

Result<void> Agent::choose_interfaces(const std::vector<std::string>& wanted) {
  if (wanted.empty()) return {};
  Result<rendezvous::ChosenInterfaces> chosen = rendezvous::choose_interfaces(wanted, interface_addresses());
  if (!chosen) return chosen.error();
  chosen_interfaces_ = std::move(*chosen);
  return {};
}

void Agent::compose_environments() {
  environments_.clear();
  for (const wire::App& app : apps_) {
    environments_.push_back(plan::compose({.base = app.base,
                                           .login = login_environment_,
                                           .launcher = app.launcher_environment,
                                           .user = app.user_environment,
                                           .job = {},
                                           .working_directory = app.working_directory}));
  }
}

void Agent::share_out(const wire::Prepare& m, wire::Prepared& answer) {
  std::vector<ShareRequest> requests;
  for (const auto& worker : workers_) requests.push_back({worker->spec(), environments_[worker->spec().app]});
  Shares shares = sml::agent::share_out(m.binding, m.devices, requests);
  shares_ = std::move(shares.workers);
  answer.warnings = std::move(shares.warnings);
  for (const Error& e : shares.obstacles) answer.obstacles.push_back(obstacle(e));
  if (m.binding.report == plan::ReportBindings::No) return;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    answer.bindings.push_back({workers_[i]->rank(), shares_[i].words});
  }
}

Result<void> Agent::plan_pipes(wire::Prepare& m) {
  if (m.pipes.channels.empty() || m.pipes.readers.empty() || environments_.empty()) return {};
  pipes_.emplace(loop_, scratch_, std::move(m.pipes), environments_.front(),
                 Pipes::Owner{.failed = [this](const Error& why) { link_.send(wire::PipeFailed{why.message()}); },
                              .warn =
                                  [this](const std::string& text) {
                                    link_.send(wire::AgentLog{wire::LogLevel::Warning, text});
                                  }});
  return pipes_->check();
}

void Agent::share_channels(std::span<const plan::HostChannel> channels, wire::Prepared& answer) {
  if (channels.empty()) return;
  Result<ChannelFolders> made = make_channel_folders(channels, workers_.size(), scratch_.path());
  if (!made) return answer.obstacles.push_back(obstacle(made.error()));
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    plan::Environment& variables = shares_[i].variables;
    variables.insert(variables.end(), made->variables[i].begin(), made->variables[i].end());
  }
  answer.warnings.insert(answer.warnings.end(), made->warnings.begin(), made->warnings.end());
}

// Once per program, not per rank: nothing that we set decides where it is found.
std::vector<wire::Obstacle> Agent::find_programs() {
  std::vector<wire::Obstacle> out;
  programs_.assign(apps_.size(), {});
  for (std::size_t i = 0; i < apps_.size(); ++i) {
    if (Result<std::string> found = find_program(apps_[i], environments_[i])) {
      programs_[i] = std::move(*found);
    } else {
      out.push_back(obstacle(found.error()));
    }
  }
  return out;
}

std::vector<wire::MpiUse> Agent::find_mpi_programs() const {
  std::vector<wire::MpiUse> out;
  if (looks_for_mpi_ == wire::MpiLook::No) return out;
  for (std::uint32_t i = 0; i < apps_.size(); ++i) {
    if (programs_[i].empty()) continue;
    const std::string& folder = apps_[i].working_directory;
    const std::string file = programs_[i].starts_with('/') ? programs_[i] : folder + "/" + programs_[i];
    std::string library = linked_mpi_library(file, environments_[i]);
    const auto runs_it = [i](const auto& worker) { return worker->spec().app == i; };
    const auto first = std::find_if(workers_.begin(), workers_.end(), runs_it);
    if (library.empty() || first == workers_.end()) continue;
    out.push_back({(*first)->rank(), 0, apps_[i].argv.front(), std::move(library)});
  }
  return out;
}

void Agent::look_for_mpi(TimePoint now) {
  std::vector<MpiWatch::Candidate> candidates;
  for (const auto& worker : workers_) {
    if (worker->machine().alive()) candidates.push_back({worker->rank(), worker->pid()});
  }
  if (candidates.empty() || machine_.state() != HostState::Running) return mpi_watch_.end();
  if (std::optional<wire::MpiUse> found = mpi_watch_.look(candidates, now)) link_.send(std::move(*found));
}

Result<void> Agent::plan_logs(const wire::WorkerLogs& rules) {
  std::vector<std::string> paths;
  for (const auto& worker : workers_) {
    log_index_[worker->rank()] = paths.size();
    paths.push_back(worker->spec().stdout_log);
    paths.push_back(worker->spec().stderr_log);
  }
  if (std::all_of(paths.begin(), paths.end(), [](const std::string& path) { return path.empty(); })) return {};
  const auto overwrite = rules.overwrite == wire::LogOverwrite::Yes ? os::Overwrite::Yes : os::Overwrite::No;
  logs_.emplace(os::LogRules{.max_size = rules.max_size, .overwrite = overwrite}, std::move(paths));
  return logs_->check();
}

void Agent::worker_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) {
  if (logs_) log(rank, stream, bytes);
  link_.send_output(rank, stream, read_at, bytes);
}

void Agent::log(Rank rank, wire::Stream stream, std::string_view bytes) {
  const std::size_t file = log_index_.at(rank) + (stream == wire::Stream::Stderr ? 1 : 0);
  if (Result<void> kept = logs_->write(file, bytes); !kept) link_.send(wire::LogFailed{kept.error().message()});
}

void Agent::handle(wire::Probe& m) {
  probe_addresses(loop_, m.addresses, m.port, std::chrono::milliseconds(m.timeout_ms),
                  [this](std::vector<wire::ProbeResult> results) { link_.send(wire::Probed{std::move(results)}); });
}

void Agent::handle(wire::Start& m) {
  if (stores_) {
    stores_->serve(
        loop_, m.stores, callers_, [this](const wire::AskVouch& ask) { link_.send(ask); },
        [this](const std::string& text) {
          link_.send(wire::AgentLog{wire::LogLevel::Warning, text});
        });
    leave_ = m.leave;
  }
  rendezvous_ = std::move(m.rendezvous);
  for (wire::RankVariables& of_rank : m.variables) rank_variables_[of_rank.rank] = std::move(of_rank.environment);
  if (!chosen_interfaces_.names.empty()) {
    interface_ = interface_variables(std::span<const std::string>(chosen_interfaces_.names));
  } else if (const std::string* address = plan::find_variable(rendezvous_, "MASTER_ADDR")) {
    interface_ = interface_variables(std::string(plan::value_of(*address)));
  }
  perform(machine_.start(Clock::now()));
  settle();
}

void Agent::handle(wire::Signal& m) {
  for (const auto& worker : workers_) worker->signal(m.signo);
}

void Agent::handle(wire::Stop& m) {
  release();
  perform(machine_.stop(m.signo, std::chrono::milliseconds(m.grace_ms), Clock::now()));
  settle();
}

void Agent::handle(wire::StdinData& m) {
  if (Worker* worker = find(m.rank)) worker->feed(m.bytes);
}

void Agent::handle(wire::StdinEof& m) {
  if (Worker* worker = find(m.rank)) worker->feed_end();
}

void Agent::handle(wire::Credit& m) {
  link_.grant(m.bytes);
  wake_workers();
}

void Agent::handle(wire::Ping& m) { link_.send(wire::Pong{m.token, nanoseconds(Clock::now())}); }

void Agent::handle(wire::Suspend&) {
  suspended_ = true;
  for (const auto& worker : workers_) worker->signal(SIGSTOP);
  for (const pid_t pid : os::children()) ::kill(pid, SIGSTOP);
  if (stores_) stores_->suspend();
  arm_timer();
}

void Agent::resume() {
  if (!std::exchange(suspended_, false)) return;
  for (const auto& worker : workers_) worker->signal(SIGCONT);
  for (const pid_t pid : os::children()) ::kill(pid, SIGCONT);
  if (stores_) stores_->resume();
  arm_timer();
}

void Agent::handle(wire::AskJoined& m) {
  wire::Joined answer = stores_ ? stores_->joined(Clock::now()) : wire::Joined{};
  if (m.port != 0) answer.missing = workers_without_connection(m.port);
  if (m.port != 0 && answer.count == 0) answer.count = by_pid_.size() - answer.missing.size();
  if (m.port == 0 && answer.count == 0) {
    for (const auto& [pid, worker] : by_pid_) answer.with_torch += has_torch(pid) ? 1 : 0;
  }
  link_.send(std::move(answer));
}

void Agent::handle(wire::Vouch& m) {
  for (const wire::Caller& caller : m.callers) {
    const std::optional<os::TcpEnds> ends = ends_of(caller);
    const auto answer = [this, id = caller.id](wire::IsOurs ours) { rule(id, ours); };
    if (ends) {
      callers_.ask(*ends, answer);
    } else {
      answer(wire::IsOurs::Unknown);
    }
  }
}

// What comes in one turn of the loop travels together.
void Agent::rule(std::uint32_t caller, wire::IsOurs ours) {
  rulings_.push_back({caller, ours});
  if (rulings_.size() == 1) boost::asio::post(loop_, [this] { send_rulings(); });
}

void Agent::send_rulings() {
  if (!left_) link_.send(wire::Vouched{std::exchange(rulings_, {})});
}

void Agent::handle(wire::Ruled& m) {
  if (stores_) stores_->ruled(m);
}

void Agent::handle(wire::Inspect&) {
  const bool prepared = !environments_.empty();
  wire::Inspected answer;
  answer.facts = inspect_host({.environment = prepared ? environments_.front() : login_environment_,
                               .working_directory = prepared ? apps_.front().working_directory : std::string(),
                               .descriptor_limit = descriptor_limit_});
  answer.facts.programs = programs_;
  answer.at_ns = nanoseconds(Clock::now());
  answer.unix_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  link_.send(std::move(answer));
}

std::vector<Rank> Agent::workers_without_connection(std::uint16_t port) const {
  std::set<pid_t> groups;  // each worker leads one
  for (const auto& [pid, worker] : by_pid_) groups.insert(pid);
  const std::set<pid_t> connected = os::groups_connected_to(port, groups);
  std::vector<Rank> out;
  for (const auto& [pid, worker] : by_pid_) {
    if (!connected.contains(pid)) out.push_back(worker->rank());
  }
  return out;
}

// ---- what the machine asks for

void Agent::perform(HostAction action) {
  switch (action) {
    case HostAction::None: return;
    case HostAction::SpawnAll: return spawn_all();
    case HostAction::SignalAll: return signal_all(machine_.stop_signal());
    case HostAction::DropOutput: return drop_output();
    case HostAction::SignalAllDropOutput: signal_all(machine_.stop_signal()); return drop_output();
    case HostAction::KillAll: return signal_all(SIGKILL);
    case HostAction::SignalLeft: return signal_orphans(SIGTERM);
    case HostAction::Leave: return leave();
  }
}

plan::Environment Agent::environment_of(const Worker& worker, const WorkerShare& share) const {
  plan::Environment job = worker.spec().environment;
  if (!mark_.empty()) job.push_back(mark_entry(mark_));
  job.insert(job.end(), share.variables.begin(), share.variables.end());
  const plan::Environment& users = apps_[worker.spec().app].user_environment;
  for (const std::string& variable : rendezvous_) {
    const std::string_view name = plan::name_of(variable);
    if (!plan::user_decides(name) || plan::find_variable(users, name) == nullptr) job.push_back(variable);
  }
  if (const std::string file = scratch_.error_file(worker.rank()); !file.empty()) {
    job.push_back("TORCHELASTIC_ERROR_FILE=" + file);
  }
  if (pipes_) {
    const plan::Environment variables = pipes_->variables(worker.rank());
    job.insert(job.end(), variables.begin(), variables.end());
  }
  const plan::Environment& composed = environments_[worker.spec().app];
  // What --interface says outranks what is inherited, but not -x.
  const bool asked = !chosen_interfaces_.names.empty();
  const plan::Environment& stronger = asked ? apps_[worker.spec().app].user_environment : composed;
  for (const std::string& variable : interface_) {
    if (plan::find_variable(stronger, plan::name_of(variable)) == nullptr) job.push_back(variable);
  }
  if (const auto more = rank_variables_.find(worker.rank()); more != rank_variables_.end()) {
    job.insert(job.end(), more->second.begin(), more->second.end());
  }
  return plan::with_job(composed, job);
}

void Agent::spawn_all() {
  if (Result<os::UniqueFd> null = os::open_dev_null()) dev_null_ = std::move(*null);
  if (logs_) {
    if (Result<void> made = logs_->create(); !made) link_.send(wire::LogFailed{made.error().message()});
  }
  if (pipes_) pipes_->start();
  wire::Started started;
  const auto pipes = static_cast<int>(workers_.size()) * 2;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const std::unique_ptr<Worker>& worker = workers_[i];
    const wire::App& app = apps_[worker->spec().app];
    const plan::Environment environment = environment_of(*worker, shares_[i]);
    worker->spawn({.program = programs_[worker->spec().app],
                   .argv = app.argv,
                   .environment = environment,
                   .working_directory = app.working_directory,
                   .dev_null = dev_null_.get(),
                   .descriptor_limit = descriptor_limit_,
                   .pipe_size = std::min(kWidestPipe, kPipesInAll / pipes),
                   .ignored_signals = ignored_signals_,
                   .binding = shares_[i].binding ? &*shares_[i].binding : nullptr});
    if (!worker->machine().alive()) continue;
    by_pid_[worker->pid()] = worker.get();
    started.workers.push_back({worker->rank(), worker->pid()});
  }
  if (looks_for_mpi_ == wire::MpiLook::Yes) mpi_watch_.begin(Clock::now());
  started.at_ns = nanoseconds(Clock::now());
  link_.send(std::move(started));
  if (pipes_ && by_pid_.empty()) pipes_->end();
}

void Agent::signal_all(int signo) {
  if (pipes_ && signo == SIGKILL) pipes_->end();
  for (const auto& worker : workers_) {
    worker->ask_to_stop();
    worker->signal(signo);
    if (signo != SIGKILL) worker->signal(SIGCONT);  // a stopped process cannot end politely
  }
  asked_orphans_.clear();
  signal_orphans(signo);
}

// Whatever else has become our child: it left its worker's group, or its worker died. Each once per signal, since more
// of them come as their parents end.
void Agent::signal_orphans(int signo) {
  for (const pid_t pid : os::children()) {
    if (by_pid_.contains(pid) || !asked_orphans_.insert(pid).second) continue;
    ::kill(pid, signo);
    if (signo != SIGKILL) ::kill(pid, SIGCONT);
  }
}

void Agent::drop_output() {
  for (const auto& worker : workers_) worker->discard_output();
}

void Agent::leave() {
  stays_ = leave_ == wire::Leave::WhenReleased;
  if (stays_) return;
  if (stores_) stores_->sum_up();
  wire::Bye bye{.reason = told_to_end_, .left = {}};
  for (const pid_t pid : os::children()) {
    if (bye.left.size() < wire::kMaxLeft) bye.left.push_back(os::describe_process(pid));
  }
  link_.send(std::move(bye));
  left_ = true;
}

// Workers of other hosts need the stores for as long as they run, whatever has become of ours.
void Agent::release() {
  leave_ = wire::Leave::WhenDone;
  if (!std::exchange(stays_, false)) return;
  leave();
  settle();
}

// ---- the loop

void Agent::worker_took_input(Rank rank, std::size_t bytes) {
  if (!left_) link_.send(wire::StdinCredit{rank, bytes});  // nothing follows our last word
}

void Agent::worker_changed() {
  if (settling_) return;
  settling_ = true;  // once per turn of the loop, however many workers have news
  boost::asio::post(loop_, [this] {
    settling_ = false;
    settle();
  });
}

void Agent::settle() {
  for (const auto& worker : workers_) report(*worker);
  tell_machine();
  if (left_ && (link_.idle() || link_.lost())) loop_.stop();
  arm_timer();
}

void Agent::report(Worker& worker) {
  const WorkerAction action = worker.take_report();
  if (action == WorkerAction::None) return;
  if (action == WorkerAction::ReportExit || action == WorkerAction::ReportExitAndDrained) {
    send_evidence(worker);
    const auto ended_by = worker.machine().asked_to_stop() ? wire::EndedBy::Us : wire::EndedBy::Itself;
    link_.send(wire::pack_exit(worker.rank(), worker.status(), ended_by, nanoseconds(worker.ended_at())));
  }
  if (action != WorkerAction::ReportExit) {
    const auto end = action == WorkerAction::AbandonOutput ? wire::DrainEnd::Quiet : wire::DrainEnd::Eof;
    link_.send(wire::Drained{worker.rank(), end});
  }
}

// What may say why it failed, before the news that it did.
void Agent::send_evidence(const Worker& worker) {
  if (succeeded(worker.status())) return;
  std::string text = scratch_.take_error_file(worker.rank(), wire::kMaxErrorFile);
  if (!text.empty()) link_.send(wire::ErrorFile{.text = std::move(text), .rank = worker.rank()});
  const auto* signaled = std::get_if<Signaled>(&worker.status());
  if (signaled == nullptr || signaled->signo != SIGKILL || worker.machine().asked_to_stop()) return;
  if (auto kills = oom_watch_.look())
    link_.send(wire::OutOfMemory{.kills = kills->count, .evidence = std::move(kills->evidence)});
}

void Agent::tell_machine() {
  if (machine_.state() == HostState::Idle || machine_.state() == HostState::Gone) return;
  const auto alive = [](const auto& w) { return w->machine().alive(); };
  const auto done = [](const auto& w) { return w->machine().done(); };
  if (std::none_of(workers_.begin(), workers_.end(), alive)) perform(machine_.on(HostEvent::AllReaped, Clock::now()));
  if (link_.lost() || std::all_of(workers_.begin(), workers_.end(), done)) {
    perform(machine_.on(HostEvent::AllDone, Clock::now()));
  }
  const bool killing = machine_.state() == HostState::SweepKilling;
  if (!killing && machine_.state() != HostState::Sweeping) return;
  if (os::children().empty()) return perform(machine_.on(HostEvent::NothingLeft, Clock::now()));
  signal_orphans(killing ? SIGKILL : SIGTERM);  // those that have come since
}

void Agent::await_signals() {
  signals_.async_wait([this](boost::system::error_code error, int signo) {
    if (error) return;
    heed(signo);
    settle();
    await_signals();
  });
}

// Whoever signals agents (a batch system does) wants the job to end.
void Agent::heed(int signo) {
  if (signo == SIGCHLD) return reap();
  if (signo == kParentDied) return parent_died();
  told_to_end("its agent was told to end by " + signal_name(signo));
}

void Agent::parent_died() {
  const pid_t parent = ::getppid();
  if (parent == guardian_) return;  // somebody else's signal
  if (parent != pact_.keeper) return told_to_end("the guardian of its agent was killed, and its keeper");
  guardian_ = parent;
  if (!greeted_ || left_) return;
  link_.send(wire::AgentLog{wire::LogLevel::Warning, "the guardian of its agent was killed; its keeper guards it now"});
}

// The workers' ends are reported still.
void Agent::told_to_end(const std::string& why) {
  if (machine_.state() == HostState::Idle || machine_.state() == HostState::Running) told_to_end_ = why;
  release();
  perform(machine_.stop(SIGTERM, kDefaultGrace, Clock::now()));
}

void Agent::reap() {
  const TimePoint now = Clock::now();
  os::reap_children([this, now](pid_t pid, const ExitStatus& status) {
    asked_orphans_.erase(pid);
    if (pipes_ && pipes_->is_feeder(pid)) return pipes_->feeder_ended(status);
    const auto found = by_pid_.find(pid);
    if (found == by_pid_.end()) return;  // an orphan that had come to us
    Worker& worker = *found->second;
    by_pid_.erase(found);
    worker.reaped(status, now);
    if (!pipes_) return;
    pipes_->worker_ended(worker.rank());
    if (by_pid_.empty()) pipes_->end();
  });
}

// In turn, so that a flood of one worker does not take the credit of all.
void Agent::wake_workers() {
  if (left_ && link_.idle()) return loop_.stop();
  for (std::size_t i = 0; i < workers_.size() && link_.allowance() > 0; ++i) {
    next_to_wake_ = (next_to_wake_ + 1) % workers_.size();
    workers_[next_to_wake_]->wake();
  }
}

void Agent::arm_timer() {
  TimePoint next = link_.lost() || suspended_ ? TimePoint::max() : last_heard_ + heartbeat_timeout_;
  if (machine_.deadline()) next = std::min(next, *machine_.deadline());
  if (mpi_watch_.due()) next = std::min(next, *mpi_watch_.due());
  for (const auto& worker : workers_) {
    if (const auto deadline = worker->drain_deadline()) next = std::min(next, *deadline);
  }
  if (next == TimePoint::max() || armed_for_ == next) return;
  armed_for_ = next;
  timer_.expires_at(next);
  timer_.async_wait([this, next](boost::system::error_code error) {
    if (error) return;
    armed_for_.reset();
    on_timer(next);
  });
}

void Agent::on_timer(TimePoint due) {
  const TimePoint now = Clock::now();
  if (machine_.deadline() && *machine_.deadline() <= now) perform(machine_.on(HostEvent::Deadline, now));
  for (const auto& worker : workers_) worker->check_drain(now);
  if (mpi_watch_.due() && *mpi_watch_.due() <= now) look_for_mpi(now);
  if (now - due > kStoppedFor) last_heard_ = now;  // it was us who stood still: one more period before we judge
  if (!link_.lost() && !suspended_ && now - last_heard_ >= heartbeat_timeout_) {
    // Its own line for a launcher that stood still and goes on later; one that is cut off never reads it.
    link_.send(wire::Bye{.reason = "its agent heard nothing from sml-run for " + format_duration(heartbeat_timeout_) +
                                   " and ended the workers (--heartbeat-timeout)",
                         .left = {}});
    return launcher_lost(Error(ErrorKind::Lost, "the launcher has been silent for too long"));
  }
  settle();
}

void Agent::launcher_lost(const Error&) {
  link_.abandon();
  release();
  perform(machine_.on(HostEvent::LauncherLost, Clock::now()));
  settle();
}

Worker* Agent::find(Rank rank) {
  const auto found = by_rank_.find(rank);
  return found == by_rank_.end() ? nullptr : found->second;
}

}  // namespace sml::agent
