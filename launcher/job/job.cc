#include "launcher/job/job.h"

#include <algorithm>
#include <csignal>
#include <map>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/os/small_file.h"
#include "common/os/spawn.h"
#include "launcher/job/failure_file.h"
#include "launcher/job/lone_mpi.h"
#include "launcher/job/session_facts.h"
#include "launcher/job/session_plans.h"
#include "launcher/sagemaker/failure_text.h"

namespace sml::job {

namespace {

constexpr Duration kProbeTimeout = std::chrono::seconds(5);
constexpr Duration kLate = std::chrono::seconds(1);  // a timer that is so late shows that we stood still
constexpr int kLastWordsMs = 1000;

std::uint64_t nanoseconds(Duration d) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
}

double unix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Of the event that made the job stop.
report::StopCause stop_cause(JobEvent event) {
  switch (event) {
    case JobEvent::WorkerFailed: return report::StopCause::WorkerFailed;
    case JobEvent::UserStop: return report::StopCause::Signal;
    case JobEvent::OutputGone: return report::StopCause::OutputGone;
    case JobEvent::Deadline: return report::StopCause::TimeLimit;
    case JobEvent::NoProgress: return report::StopCause::NoProgress;
    case JobEvent::RanksAlone: return report::StopCause::Launcher;
    default: return report::StopCause::HostFailed;
  }
}

bool contains(const std::vector<int>& list, int signo) { return std::count(list.begin(), list.end(), signo) > 0; }

bool contains_all(const std::vector<std::string>& list, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&list](const auto& one) { return std::count(list.begin(), list.end(), one) > 0; });
}

bool ends_the_job(int signo) { return signo == SIGINT || signo == SIGTERM || signo == SIGHUP || signo == SIGQUIT; }

}  // namespace

Job::Job(const JobOptions& options, const plan::LaunchPlan& plan, const launch::AgentImage& image, Records records,
         std::optional<dialin::HeadPlan> dial_in)
    : options_(options),
      plan_(plan),
      image_(image),
      routes_(loop_.get_executor(), options.ssh, plan, image),
      signals_(loop_, SIGINT, SIGTERM, SIGQUIT),
      deadline_timer_(loop_),
      ping_timer_(loop_),
      suspend_timer_(loop_),
      join_timer_(loop_),
      console_(loop_.get_executor(), tag_subjects(plan.map), options.output,
               {.drained = [this] { give_credit(); }, .gone = [this](int sys_errno) { output_gone(sys_errno); }}),
      progress_(loop_.get_executor(), options.progress, plan.map,
                {.flow = [this] { return output_flow(); },
                 .say = [this](const std::string& text) { say_while_running(text); },
                 .no_progress = [this](report::NoProgress what) { stop_for_no_progress(std::move(what)); }}),
      records_(std::move(records)),
      stdin_(loop_.get_executor(), {.data =
                                        [this](Rank rank, const std::string& bytes) {
                                          host_of(rank).session->send(wire::StdinData{rank, bytes});
                                        },
                                    .end = [this](Rank rank) { host_of(rank).session->send(wire::StdinEof{rank}); }}),
      machine_(options.start_timeout, options.grace, Clock::now(), options.timeout, options.stop_grace),
      join_watch_(
          options.join_warn, plan.map.members(),
          options.torch_store == plan::TorchStore::OfAgent ? JoinWatch::Store::OfAgent : JoinWatch::Store::OfRank0),
      dial_in_(std::move(dial_in)),
      ranks_(plan),
      preset_ports_(plan::preset_ports(plan.presets, plan.map)) {
  for (const int signo : {SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP}) signals_.add(signo);
  if (!contains(os::ignored_signals(), SIGHUP)) signals_.add(SIGHUP);  // else nohup(1) has asked for that
  for (const int signo : options.forward_signals) signals_.add(signo);
  if (options.progress.status_signal) signals_.add(*options.progress.status_signal);
  facts_.program = plan.command.front();
  facts_.started = Clock::now();
  facts_.timeout_status = options.timeout_status;
}

Job::~Job() = default;

int Job::run() {
  ::signal(SIGPIPE, SIG_IGN);
  const auto with_ranks = std::count_if(plan_.map.hosts.begin(), plan_.map.hosts.end(),
                                        [](const plan::MappedHost& h) { return !h.ranks.empty(); });
  const SessionSettings settings{.grace = options_.grace,
                                 .heartbeat_timeout = options_.heartbeat_timeout,
                                 .start_timeout = options_.start_timeout,
                                 .output_window = first_output_window(static_cast<std::size_t>(with_ranks)),
                                 .interfaces = options_.interfaces,
                                 .stderr_pipe = stderr_pipe_of(options_),
                                 .wants_stdin = [this](Rank rank) { return wants_stdin(rank); }};
  if (Result<void> open = open_to_hosts(); !open) {
    console_.say(open.error().message());
    return exit_code_of(open.error().kind());
  }
  for (launch::AgentSession::Plan& session : session_plans(plan_, settings)) {
    records_.logs().instruct(session);
    launch::SessionRoute route = routes_.to(session.host);
    hosts_.push_back({std::make_unique<launch::AgentSession>(loop_.get_executor(), static_cast<SessionOwner&>(*this),
                                                             image_, std::move(route), std::move(session)),
                      {}});
  }
  enrol_readers();
  await_signals();
  begin_records();
  start_sessions();
  next_ping_ = Clock::now() + ping_interval(options_.heartbeat_timeout);
  ping_all();
  arm_deadline();
  loop_.run();
  preparation_.reset();
  return conclude();
}

void Job::enrol_readers() {
  for (const plan::RankAssignment& rank : plan_.map.ranks) {
    if (wants_stdin(rank.rank)) stdin_.add_reader(rank.rank);
  }
}

// All has been said and has happened: what is told of it, and the exit status.
int Job::conclude() {
  console_.end_status();
  console_.workers_done();
  if (mpi_found_ && options_.lone_mpi == LoneMpi::Refused)
    add_fault(mpi_found_->host, lone_mpi_refusal(mpi_found_->use, {}));
  if (!machines_.empty() && facts_.faults.empty() && !facts_.stop_signal) return leave_unstarted();
  machines_.clear();
  // Only now: its last words may have come after the news of its end.
  facts_.ends = ranks_.failures();
  facts_.unseen = ranks_.unseen();
  const report::Verdict verdict = report::judge(facts_);
  for (const std::string& line : report::job_report(facts_, verdict)) console_.say(line);
  if (!options_.report_file.empty()) write_report(verdict);
  std::vector<launch::CleanUp::Host> vanished_hosts = vanished();
  tell_hosts(verdict, leave_reason(verdict));
  if (!vanished_hosts.empty()) {
    hosts_.clear();
    launch::CleanUp(loop_, image_, [this](const std::string& text) {
      console_.say(text);
    }).run(std::move(vanished_hosts));
  }
  events_.tell(report::JobEnds{verdict.exit_code, report::in_words(verdict),
                               verdict.culprit != nullptr ? std::optional(verdict.culprit->rank) : std::nullopt});
  records_.finish([this](const std::string& warning) { console_.say(warning); });
  console_.flush_last(kLastWordsMs);
  hosts_.clear();
  routes_.leave();
  return verdict.exit_code;
}

// What has been written of it goes when the files are opened again.
int Job::leave_unstarted() {
  console_.flush_last(kLastWordsMs);
  hosts_.clear();
  routes_.leave();
  return 0;
}

// Answers the text, for the host whose worker decided.
std::string Job::leave_reason(const report::Verdict& verdict) {
  const bool message = options_.failure.kind == FailureKind::Message;
  std::string failure =
      sagemaker::failure_text(facts_, verdict, message ? sagemaker::kMessageLimit : sagemaker::kFailureLimit);
  if (!options_.failure.path.empty() && verdict.exit_code != 0) {
    const Result<void> left = leave_failure(options_.failure.path, failure);
    if (!left) console_.say(left.error().message());
  }
  return failure;
}

void Job::write_report(const report::Verdict& verdict) {
  const report::JobRecord record{
      .job_id = plan_.job.job_id, .started_unix = started_unix_, .now = Clock::now(), .ranks = ranks_.records()};
  const Result<void> written = os::write_file(options_.report_file, report::report_json(record, facts_, verdict));
  if (!written) console_.say("--report: " + written.error().message());
}

bool Job::wants_stdin(Rank rank) const {
  if (options_.stdin_rule == StdinRule::OneRank) return rank == options_.stdin_rank;
  return options_.stdin_rule == StdinRule::All;
}

Job::HostEntry& Job::host_of(Rank rank) {
  const HostIndex index = plan_.map.ranks[rank.value()].host;
  return *std::find_if(hosts_.begin(), hosts_.end(), [&](const HostEntry& h) { return h.session->host() == index; });
}

// Where the others call us.
Result<void> Job::open_to_hosts() {
  if (!dial_in_) return {};
  chore_ = dial_in_->chore;
  own_host_ = HostIndex(dial_in_->settings.own_index);
  Result<std::unique_ptr<dialin::Head>> head =
      dialin::make_head(loop_.get_executor(), routes_.pool(), std::move(*dial_in_),
                        {.say = [this](const std::string& text) { console_.say(text); },
                         .come = [this] { check_settled(); },
                         .stop_asked =
                             [this](const std::string& host, int signo) {
                               console_.say(host + " has been told to stop (" + signal_name(signo) + ")");
                               on_signal(signo);
                             }});
  if (!head) return head.error();
  head_ = std::move(*head);
  routes_.be_called(*head_);
  head_->begin();
  return {};
}

// The others may come while we are still busy with our own host.
void Job::start_sessions() {
  for (HostEntry& host : hosts_) {
    launch::AgentSession& session = *host.session;
    if (chore_ == nullptr || session.host() != own_host_) {
      session.start();
      continue;
    }
    preparation_.emplace(loop_.get_executor(), *chore_,
                         [this, &session](const Result<void>& done) { prepared(session, done); });
  }
}

void Job::prepared(launch::AgentSession& session, const Result<void>& done) {
  if (session.ended()) return;
  if (done) return session.start();
  fail_host(entry(session), done.error());
  session.abandon(done.error());
}

// All is over but for that.
void Job::tell_hosts(const report::Verdict& verdict, std::string failure) {
  if (!head_) return;
  std::optional<HostIndex> culprit;
  if (verdict.culprit != nullptr) culprit = plan_.map.ranks[verdict.culprit->rank.value()].host;
  hosts_.clear();
  loop_.restart();
  head_->end({static_cast<std::uint8_t>(verdict.exit_code), report::in_words(verdict), std::move(failure)}, culprit,
             [this] { loop_.stop(); });
  loop_.run();
  head_.reset();
}

Job::HostEntry& Job::entry(const launch::AgentSession& session) {
  return *std::find_if(hosts_.begin(), hosts_.end(), [&](const HostEntry& h) { return h.session.get() == &session; });
}

// ---- what the machine asks for

void Job::begin_records() {
  begin_progress();
  records_.begin(loop_.get_executor(), events_, [this](const std::string& warning) { console_.say(warning); });
  records_.logs().on_failure([this](const Error& why) { log_failed(why); });
  events_.tell(report::JobBegins{&plan_, unix_now()}, facts_.started);
}

void Job::tell(JobEvent event) {
  const JobState before = machine_.state();
  const JobAction action = machine_.on(event, Clock::now());
  arm_deadline();
  if (before != JobState::Stopping && machine_.state() == JobState::Stopping) {
    events_.tell(report::JobStops{facts_.own_fault ? report::StopCause::Launcher : stop_cause(event)});
  }
  perform(action);
}

void Job::perform(JobAction action) {
  switch (action) {
    case JobAction::None: return;
    case JobAction::Probe: return probe_all();
    case JobAction::StartAll: return start_all();
    case JobAction::StopAll: return stop_all();
    case JobAction::KillAll: return kill_all();
    case JobAction::TimeOutStart: return time_out_start();
    case JobAction::TimeOutRun: facts_.timed_out = Clock::now(); return stop_all();
    case JobAction::GiveUp: return give_up();
    case JobAction::Finish: return finish();
  }
}

// As soon as the host's agent runs and that of rank 0's host is ready, whatever the other hosts do meanwhile.
void Job::probe(HostEntry& host) {
  if (master_port_ == 0 || &host == &hosts_.front() || !host.session->agent_runs()) return;
  if (host.info.asked) return;
  host.info.asked = candidate_addresses();
  host.session->send(wire::Probe{*host.info.asked, master_port_, milliseconds(kProbeTimeout)});
}

void Job::probe_all() {
  if (hosts_.size() == 1) {
    const bool asked = !options_.master_address.empty() || !hosts_.front().info.chosen_addresses.empty();
    master_address_ = asked ? candidate_addresses().front() : "127.0.0.1";
    return tell(JobEvent::AllProbed);
  }
  for (HostEntry& host : hosts_) probe(host);
  finish_probing();
}

// Those that were asked before all candidates were known. True: there are some, and their answers are to come.
bool Job::probe_again(const std::vector<std::string>& candidates) {
  bool asked = false;
  for (HostEntry& host : hosts_) {
    if (!host.info.asked || contains_all(*host.info.asked, candidates)) continue;
    host.info.probe.reset();
    host.info.asked.reset();
    probe(host);
    asked = true;
  }
  return asked;
}

void Job::finish_probing() {
  std::vector<HostProbe> probes;
  for (std::size_t i = 1; i < hosts_.size(); ++i) {
    if (!hosts_[i].info.probe) return;
    probes.push_back(*hosts_[i].info.probe);
  }
  const std::vector<std::string> candidates = candidate_addresses();
  const ChosenAddress chosen = choose_address(candidates, probes, hosts_[0].session->name(), master_port_);
  master_address_ = chosen.address;
  if (!chosen.address.empty()) return tell(JobEvent::AllProbed);
  if (probe_again(candidates)) return;
  for (const ProbeFault& fault : chosen.faults) add_fault(fault.index, fault.why);
  tell(JobEvent::HostFailed);
}

void Job::start_all() {
  records_.logs().begin();
  if (machine_.state() != JobState::Running) return;  // a log that must be kept cannot be
  if (options_.verbosity == Verbosity::Verbose) {
    console_.say("all hosts are ready; the workers meet at " + master_address_ + " port " +
                 std::to_string(master_port_));
  }
  if (mpi_found_) warn_of_lone_mpi(plan_.map.hosts[mpi_found_->host.value()].host.name, mpi_found_->use);
  facts_.started = Clock::now();
  started_unix_ = unix_now();
  events_.tell(report::WorkersStart{master_address_, master_port_}, facts_.started);
  start_workers();
}

void Job::stop_all() {
  const Duration grace = facts_.stop_signal ? options_.stop_grace.value_or(options_.grace) : options_.grace;
  const wire::Stop stop{facts_.stop_signal.value_or(SIGTERM), milliseconds(grace)};
  for (HostEntry& host : hosts_) {
    if (host.session->agent_runs()) {
      host.session->send(stop);
    } else if (!host.session->ended()) {
      host.info.released = true;
      host.session->abandon(Error(ErrorKind::Lost, "not needed any more"));
    }
  }
}

void Job::kill_all() {
  for (HostEntry& host : hosts_) host.session->send(wire::Stop{SIGKILL, 0});
}

void Job::time_out_start() {
  const auto blame = [this](HostIndex host, const std::string& step) {
    add_fault(host, not_ready(options_.start_timeout, step));
  };
  for (HostEntry& host : hosts_) {
    if (host.info.ready || host.info.failed) continue;
    host.info.failed = true;
    blame(host.session->host(), host.session->step());
  }
  for (const HostIndex host : head_ ? head_->missing() : std::vector<HostIndex>()) {
    if (plan_.map.hosts[host.value()].ranks.empty()) blame(host, "it has not called");
  }
  if (facts_.faults.empty()) blame_unprobed();
  stop_all();
}

// All were ready, and some have not said whether they reach rank 0's host.
void Job::blame_unprobed() {
  for (std::size_t i = 1; i < hosts_.size(); ++i) {
    if (hosts_[i].info.probe) continue;
    add_fault(hosts_[i].session->host(),
              not_ready(options_.start_timeout, "trying to reach " + hosts_.front().session->name()));
  }
}

void Job::give_up() {
  for (const HostEntry& host : hosts_) {
    if (!host.session->ended()) facts_.unconfirmed.push_back(host.session->name());
  }
  loop_.stop();
}

void Job::finish() {
  if (console_.pending() == 0 || facts_.output_gone) loop_.stop();  // else when the reader has taken it
}

// ---- time and signals

void Job::arm_deadline() {
  if (!machine_.deadline()) {
    deadline_timer_.cancel();
    return;
  }
  deadline_timer_.expires_at(*machine_.deadline());
  deadline_timer_.async_wait([this](boost::system::error_code error) {
    if (!error) tell(JobEvent::Deadline);
  });
}

void Job::ping_all() {
  ping_timer_.expires_at(next_ping_);
  ping_timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    const TimePoint now = Clock::now();
    const bool we_stood_still = now - next_ping_ > kLate;
    for (HostEntry& host : hosts_) {
      if (!host.session->agent_runs()) continue;
      host.session->send(wire::Ping{nanoseconds(now.time_since_epoch())});
      if (we_stood_still || now - host.session->last_heard() < options_.heartbeat_timeout) continue;
      host.session->abandon(unheard_for(options_.heartbeat_timeout));
    }
    name_slow_hosts();
    next_ping_ = now + ping_interval(options_.heartbeat_timeout);
    ping_all();
  });
}

void Job::name_slow_hosts() {
  if (machine_.state() != JobState::Connecting || options_.verbosity == Verbosity::Quiet) return;
  std::map<std::string, std::vector<std::string>> by_step;
  for (const HostEntry& host : hosts_) {
    if (!host.info.ready) by_step[host.session->step()].push_back(host.session->name());
  }
  for (const auto& [step, names] : by_step) console_.say("waiting for " + fold_names(names) + " (" + step + ")");
}

void Job::await_signals() {
  signals_.async_wait([this](boost::system::error_code error, int signo) {
    if (error) return;
    on_signal(signo);
    await_signals();
  });
}

// Ctrl-Z. The agents are told first: they stop the workers, and do not take our silence for our end. What has been sent
// needs a moment on its way through the library before we stop ourselves.
void Job::suspend() {
  constexpr auto kOnItsWay = std::chrono::milliseconds(50);
  if (console_.status() != nullptr) console_.status()->hide();
  for (HostEntry& host : hosts_) host.session->send(wire::Suspend{});
  suspend_timer_.expires_after(kOnItsWay);
  suspend_timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    ::raise(SIGSTOP);  // until somebody continues us
    if (console_.status() != nullptr) console_.status()->show();
    for (HostEntry& host : hosts_) host.session->send(wire::Resume{});
  });
}

void Job::on_signal(int signo) {
  if (signo == SIGWINCH && console_.status() != nullptr) console_.status()->redraw();
  if (signo == SIGCONT && console_.status() != nullptr) console_.status()->cursor_moved();
  if (signo == options_.progress.status_signal) return print_status(signo);
  if (signo == SIGTSTP) {
    events_.tell(report::SignalCame{signo, report::SignalUse::SuspendsJob});
    return suspend();
  }
  if (signo == SIGCONT || contains(options_.forward_signals, signo)) {
    for (HostEntry& host : hosts_) host.session->send(wire::Signal{signo});
    return events_.tell(report::SignalCame{signo, report::SignalUse::PassedOn});
  }
  if (!ends_the_job(signo)) return;
  events_.tell(report::SignalCame{signo, report::SignalUse::StopsJob});
  if (machine_.state() == JobState::Finished) return loop_.stop();  // waiting for nothing but the reader of our output
  if (!facts_.stop_signal) {
    facts_.stop_signal = signo;
    facts_.stop_at = Clock::now();
    if (machine_.state() != JobState::Stopping) {
      console_.say("stopping the workers (" + signal_name(signo) + "); " +
                   (signo == SIGINT ? "press Ctrl-C again" : "send it again") + " to kill them at once");
    }
  }
  tell(JobEvent::UserStop);
}

}  // namespace sml::job
