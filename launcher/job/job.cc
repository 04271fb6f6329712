#include "launcher/job/job.h"

#include <algorithm>
#include <csignal>
#include <map>

#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/os/small_file.h"
#include "common/os/spawn.h"
#include "launcher/fleet/ways.h"
#include "launcher/job/failure_file.h"
#include "launcher/job/lone_mpi.h"
#include "launcher/job/session_plans.h"
#include "launcher/sagemaker/failure_text.h"

namespace sml::job {

namespace {

constexpr int kLastWordsMs = 1000;

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

bool ends_the_job(int signo) { return signo == SIGINT || signo == SIGTERM || signo == SIGHUP || signo == SIGQUIT; }

}  // namespace

Job::Job(const JobOptions& options, const plan::LaunchPlan& plan, const launch::AgentImage& image, Records records,
         std::optional<dialin::HeadPlan> dial_in)
    : options_(options),
      plan_(plan),
      signals_(loop_, SIGINT, SIGTERM, SIGQUIT),
      deadline_timer_(loop_),
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
      fleet_(loop_, image, fleet::make_reach(loop_.get_executor(), image, plan, options.ssh, std::move(dial_in)),
             options.heartbeat_timeout, static_cast<FleetListener&>(*this)),
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
  if (Result<void> open = fleet_.open(events_of_reach()); !open) {
    console_.say(open.error().message());
    return exit_code_of(open.error().kind());
  }
  make_sessions();
  enrol_readers();
  await_signals();
  begin_records();
  fleet_.start();
  arm_deadline();
  loop_.run();
  fleet_.stop_preparing();
  return conclude();
}

launch::Reach::Events Job::events_of_reach() {
  return {.say = [this](const std::string& text) { console_.say(text); },
          .come = [this] { check_settled(); },
          .stop_asked =
              [this](const std::string& host, int signo) {
                console_.say(host + " has been told to stop (" + signal_name(signo) + ")");
                on_signal(signo);
              }};
}

void Job::make_sessions() {
  const auto with_ranks = std::count_if(plan_.map.hosts.begin(), plan_.map.hosts.end(),
                                        [](const plan::MappedHost& h) { return !h.ranks.empty(); });
  const SessionSettings settings{.grace = options_.grace,
                                 .heartbeat_timeout = options_.heartbeat_timeout,
                                 .start_timeout = options_.start_timeout,
                                 .output_window = first_output_window(static_cast<std::size_t>(with_ranks)),
                                 .interfaces = options_.interfaces,
                                 .stderr_pipe = stderr_pipe_of(options_),
                                 .wants_stdin = [this](Rank rank) { return wants_stdin(rank); }};
  for (launch::AgentSession::Plan& session : session_plans(plan_, settings)) {
    records_.logs().instruct(session);
    const HostIndex index(session.host.value());
    fleet_.add(index, std::move(session));
  }
  infos_.resize(fleet_.hosts().size());
  search_.emplace(fleet_.hosts(), options_.master_address);
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
  fleet_.dismiss();
  tell_hosts(verdict, leave_reason(verdict));
  fleet_.clean_up([this](const std::string& text) { console_.say(text); });
  events_.tell(report::JobEnds{verdict.exit_code, report::in_words(verdict),
                               verdict.culprit != nullptr ? std::optional(verdict.culprit->rank) : std::nullopt});
  records_.finish([this](const std::string& warning) { console_.say(warning); });
  console_.flush_last(kLastWordsMs);
  fleet_.close();
  return verdict.exit_code;
}

// What has been written of it goes when the files are opened again.
int Job::leave_unstarted() {
  console_.flush_last(kLastWordsMs);
  fleet_.dismiss();
  fleet_.close();
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

fleet::Host& Job::host_of(Rank rank) { return fleet_.at(plan_.map.ranks[rank.value()].host); }

// All is over but for that.
void Job::tell_hosts(const report::Verdict& verdict, std::string failure) {
  std::optional<HostId> culprit;
  if (verdict.culprit != nullptr) culprit = HostId(plan_.map.ranks[verdict.culprit->rank.value()].host.value());
  fleet_.tell_end(
      {static_cast<std::uint8_t>(verdict.exit_code), report::in_words(verdict), std::move(failure), culprit});
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

void Job::probe_all() {
  if (fleet_.hosts().size() == 1) {
    master_address_ = search_->address_of_lone_host();
    return tell(JobEvent::AllProbed);
  }
  for (const fleet::Host& host : fleet_.hosts()) search_->ask(host);
  finish_probing();
}

void Job::finish_probing() {
  const std::optional<fleet::ChosenAddress> chosen = search_->outcome(fleet::AddressSearch::Of::All);
  if (!chosen) return;
  master_address_ = chosen->address;
  if (!chosen->address.empty()) return tell(JobEvent::AllProbed);
  if (search_->ask_again()) return;
  for (const fleet::ProbeFault& fault : chosen->faults) add_fault(fault.index, fault.why);
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
  const wire::Stop stop{facts_.stop_signal.value_or(SIGTERM), launch::milliseconds(grace)};
  for (fleet::Host& host : fleet_.hosts()) {
    if (host.runs()) {
      host.session->end_workers(stop, launch::Afterwards::Leave);
    } else if (!host.session->ended()) {
      info(host).released = true;
      host.session->abandon(Error(ErrorKind::Lost, "not needed any more"));
    }
  }
}

void Job::kill_all() {
  for (const fleet::Host& host : fleet_.hosts()) host.session->end_workers({SIGKILL, 0}, launch::Afterwards::Leave);
}

void Job::time_out_start() {
  const auto blame = [this](HostIndex host, const std::string& step) {
    add_fault(host, fleet::not_ready(options_.start_timeout, step));
  };
  for (const fleet::Host& host : fleet_.hosts()) {
    if (info(host).ready || info(host).failed) continue;
    info(host).failed = true;
    blame(host.index, host.session->step());
  }
  for (const HostId missing : fleet_.missing()) {
    const HostIndex host(missing.value());
    if (plan_.map.hosts[host.value()].ranks.empty()) blame(host, "it has not called");
  }
  if (facts_.faults.empty()) blame_unprobed();
  stop_all();
}

// All were ready, and some have not said whether they reach rank 0's host.
void Job::blame_unprobed() {
  for (const fleet::Host& host : fleet_.hosts()) {
    if (host.position == 0 || search_->has_answered(host)) continue;
    add_fault(host.index, fleet::not_ready(options_.start_timeout, "trying to reach " + fleet_.first().name()));
  }
}

void Job::give_up() {
  for (const fleet::Host& host : fleet_.hosts()) {
    if (!host.session->ended()) facts_.unconfirmed.push_back(host.name());
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

void Job::name_slow_hosts() {
  if (machine_.state() != JobState::Connecting || options_.verbosity == Verbosity::Quiet) return;
  std::map<std::string, std::vector<std::string>> by_step;
  for (const fleet::Host& host : fleet_.hosts()) {
    if (!info(host).ready) by_step[host.session->step()].push_back(host.name());
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

// Ctrl-Z.
void Job::suspend() {
  if (console_.status() != nullptr) console_.status()->hide();
  fleet_.suspend([this] {
    if (console_.status() != nullptr) console_.status()->show();
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
    fleet_.tell_all(wire::Signal{signo});
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
