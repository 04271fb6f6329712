#include "launcher/run/run.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <boost/asio/post.hpp>

#include "common/core/clock.h"
#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/core/transition_table.h"
#include "launcher/plan/regroup.h"
#include "launcher/report/live/status_text.h"
#include "launcher/report/outcome/job_report.h"
#include "launcher/report/outcome/stop_words.h"
#include "launcher/run/conclusion.h"
#include "launcher/run/worker_tags.h"

namespace sml::run {

namespace {

constexpr int kLastWordsMs = 1000;

std::vector<plan::Host> callers(const std::weak_ptr<dialin::Coordinator>& of) {
  std::vector<plan::Host> out;
  const std::shared_ptr<dialin::Coordinator> head = of.lock();
  if (!head) return out;
  for (const std::string& name : head->present()) out.push_back({.name = name, .user = {}, .slots = {}});
  return out;
}

attempt::Terms first_terms(const JobOptions& options) {
  return {options.restart.max > 0 ? transport::Afterwards::Stay : transport::Afterwards::Leave, {}};
}

}  // namespace

Run::Run(Deps deps, const JobOptions& options, plan::LaunchPlan plan, Records records, Replan replan)
    : options_(options),
      loop_(deps.loop),
      head_(std::move(deps.head)),
      console_(loop_.get_executor(), tag_subjects(plan.map), options.output,
               {.drained = [this] { reader_caught_up(); }, .gone = [this](int sys_errno) { output_gone(sys_errno); }}),
      records_(std::move(records)),
      replan_(std::move(replan)),
      files_(loop_, [this](const std::string& text) { console_.print(text); }),
      fleet_(loop_, deps.image, std::move(deps.agent_launcher), options.heartbeat_timeout),
      restarts_(options.restart),
      next_hosts_(options.restart, fleet_, events_, files_),
      rest_timer_(loop_),
      streams_(loop_.get_executor(), {options, [this]() -> const plan::LaunchPlan& { return attempt_->plan(); }, fleet_,
                                      console_, records_, events_, progress_, control_}),
      attempt_(std::make_unique<attempt::Attempt>(loop_, options, std::move(plan), first_terms(options), fleet_,
                                                  events_, static_cast<AttemptOwner&>(*this), streams_)),
      changing_hosts_(loop_, options.restart, attempt_->plan().map,
                      {.may_come =
                           [this] {
                             const bool may = machine_.state() != RunState::Regrouping && attempt_->spares().may_come();
                             return may ? HostPool::MayConnect::All : HostPool::MayConnect::Nobody;
                           },
                       .lost = [this] { return attempt_->spares().lost(); },
                       .come = [this](const plan::MappedHost& host) { attempt_->spares().come(host); },
                       .is_ready =
                           [this](HostId id) {
                             const attempt::ElasticJoin& joining = attempt_->elastic().joining();
                             return !joining.is_unfit(id) && (attempt_->spares().is_ready(id) || joining.may_join(id));
                           },
                       .print = [this](const std::string& text) { console_.print(text); },
                       .changed = [this](report::HostListChanged how) { events_.publish(std::move(how)); },
                       .look = [this] { look_for_growth(); },
                       .callers = [this] { return callers(head_); }}),
      progress_(loop_.get_executor(), options.progress,
                options.restart.progress_file.empty() ? ProgressWatch::File::None : ProgressWatch::File::Watched,
                attempt_->plan().map,
                {.flow = [this] { return attempt_->workers().flow(); },
                 .print =
                     [this](const std::string& text) {
                       if (attempt_->runs()) console_.print(text);
                     },
                 .report = [this] { report_while_running("ranks are silent"); },
                 .no_progress = [this](report::NoProgress what) { attempt_->stop_for_no_progress(std::move(what)); }}),
      progress_file_(loop_.get_executor(), options.restart.progress_file,
                     [this](const report::StepNumbers& step) { progress_.file_written(step); }),
      hang_reports_(
          {.plan = [this]() -> const plan::LaunchPlan& { return attempt_->plan(); },
           .progress = progress_.so_far(),
           .workers_run = [this] { return attempt_->runs(); },
           .look =
               [this](TraceTools tools, attempt::StackQuery::Done done) {
                 attempt_->queries().look_for_workers(tools, std::move(done));
               },
           .fetch = [this](attempt::RecordQuery::Done done) { attempt_->queries().fetch_records(std::move(done)); },
           .print = [this](const std::string& text) { console_.print(text); },
           .folder = records_.hang_folder(),
           .files = files_}),
      use_looks_(loop_.get_executor(),
                 {.workers_run = [this] { return options_.usage == UsageLook::Yes && attempt_->runs(); },
                  .queries = [this]() -> attempt::HostQueries& { return attempt_->queries(); }}),
      control_(loop_.get_executor(),
               {.plan = [this]() -> const plan::LaunchPlan& { return attempt_->plan(); },
                .progress = progress_.so_far(),
                .goodput = progress_.goodput(),
                .workers_run = [this] { return attempt_->runs(); },
                .target = options.stop.target.value_or(SignalTarget::Group),
                .send = [this](HostIndex host, const wire::ToAgent& message) { fleet_.send(host, message); },
                .signalled =
                    [this](int signo, const std::string& what) {
                      events_.publish(report::SignalCame{signo, report::SignalUse::PassedOn});
                      if (options_.verbosity != Verbosity::Quiet) console_.print(what);
                    },
                .stop =
                    [this](const std::string& who) {
                      signals_.heed({"sml-run stop", "told to stop by " + who, SIGTERM});
                    },
                .stacks =
                    [this](control::Form form, std::function<void(Result<std::string>)> done) {
                      hang_reports_.make(form, std::move(done));
                    },
                .use = [this](UsagePoller::Done done) { use_looks_.ask(std::move(done)); }}),
      observers_(loop_.get_executor(), {.options = options,
                                        .progress = progress_.so_far(),
                                        .goodput = progress_.goodput(),
                                        .use = [this](UsagePoller::Done done) { use_looks_.ask_sums(std::move(done)); },
                                        .print = [this](const std::string& text) { console_.print(text); }}),
      signals_(loop_, {options, deps.process, fleet_, console_, events_, progress_.so_far(),
                       [this](const Stop& asked) { stop(asked); }}) {}

Run::~Run() = default;

int Run::run() {
  ::signal(SIGPIPE, SIG_IGN);
  if (Result<void> open = fleet_.open(launcher_events()); !open) {
    console_.print(open.error().message());
    if (!open.error().hint().empty()) console_.print("hint: " + open.error().hint());
    console_.flush_last(kLastWordsMs);
    return exit_code_of(open.error().kind());
  }
  streams_.give_input();
  signals_.begin();
  begin_records();
  fleet_.start();
  attempt_->begin();
  changing_hosts_.begin();
  loop_.run();
  changing_hosts_.end();
  fleet_.stop_preparing();
  return conclude();
}

transport::AgentLauncher::Events Run::launcher_events() {
  return {.print = [this](const std::string& text) { console_.print(text); },
          .come = [this] { attempt_->look_round(); },
          .stop_asked =
              [this](const std::string& host, int signo) {
                signals_.heed({host, host + " has been told to stop (" + signal_name(signo) + ")", signo});
              }};
}

void Run::begin_records() {
  if (options_.progress.live == LiveStatus::OnTerminal && options_.verbosity != Verbosity::Quiet) {
    console_.show_status(
        [this](std::size_t columns) { return report::status_line(progress_.so_far(), Clock::now(), columns); });
  }
  progress_.begin(events_);
  progress_file_.begin();
  const Result<void> asked = control_.open();
  if (!asked && options_.verbosity == Verbosity::Verbose) {
    console_.print("sml-run ps and status cannot ask this job: " + asked.error().message());
  }
  records_.begin(loop_.get_executor(), events_, progress_.goodput(),
                 [this](const std::string& warning) { console_.print(warning); });
  records_.results().begin(loop_.get_executor(), {.print = [this](const std::string& text) { console_.print(text); },
                                                  .caught_up = [this] { reader_caught_up(); }});
  fleet_.trace(records_.protocol_trace());
  observers_.begin(events_, records_.take_metrics());
  listen_to_logs();
  tell_begin();
}

void Run::listen_to_logs() {
  records_.logs().listen(loop_.get_executor(), {.failed = [this](const Error& why) { log_failed(why); },
                                                .caught_up = [this] { reader_caught_up(); }});
}

void Run::tell_begin() { events_.publish(report::JobBegins{&attempt_->plan(), unix_now()}, began_); }

// ---- the state machine

void Run::dispatch(RunEvent event) {
  const RunState before = machine_.state();
  const RunAction action = machine_.on(event);
  if (action == RunAction::Unexpected && options_.verbosity == Verbosity::Verbose) {
    console_.print(ignored(name(event), name(before)));
  }
  perform(action);
}

void Run::perform(RunAction action) {
  switch (action) {
    case RunAction::None:
    case RunAction::Unexpected: return;
    case RunAction::Decide: return ask_for_progress();
    case RunAction::Rest: return rest();
    case RunAction::Replan: return boost::asio::post(loop_, [this] { replan(); });
    case RunAction::Begin: return begin_again();
    case RunAction::BeginAnew: return begin_anew();
    case RunAction::AwaitReader: return look_at_reader();
    case RunAction::Finish: return loop_.stop();
  }
}

// ---- from one attempt to the next

void Run::ask_for_progress() {
  const attempt::AttemptOutcome outcome = attempt_->outcome();
  if (!outcome.machines.empty()) return dispatch(RunEvent::OneMachine);
  if (report::judge(outcome.facts).exit_code == 0) return decide(std::nullopt);
  progress_file_.ask([this](std::optional<bool> touched) {
    if (machine_.state() != RunState::Clearing || !attempt_->is_cleared()) return;  // the agents are leaving
    if (!touched && !options_.restart.progress_file.empty()) {
      console_.print("--progress-file: its file system does not answer; the job goes on without it");
    }
    decide(touched);
  });
}

void Run::decide(std::optional<bool> file_touched) {
  const attempt::AttemptOutcome outcome = attempt_->outcome();
  const report::JobOutcome verdict = report::judge(outcome.facts);
  next_hosts_.blame(outcome.hosts_out);
  std::vector<std::string> news = next_hosts_.blame(verdict, attempt_->plan().map);
  const std::vector<std::string> unwell =
      next_hosts_.blame_unwell(verdict, attempt_->plan().map, attempt_->planned().map, changing_hosts_);
  news.insert(news.end(), unwell.begin(), unwell.end());
  const Result<plan::JobMap> next = next_map();
  const Restarts::Deps deps{.hosts_lost = fleet_.lost().size() - other_names_,
                            .why_no_hosts = next || may_mend() ? std::string() : next.error().message(),
                            .file_touched = file_touched,
                            .line_matched = progress_.line_matched()};
  const Decision decision =
      restarts_.ended(attempt_number(), attempt_->plan().map, outcome, verdict, deps, Clock::now());
  if (const auto* wanted = std::get_if<TryAgain>(&decision)) {
    const TimePoint now = Clock::now();
    const TryAgain again{std::max(wanted->delay, fleet_.lost_workers_end().value_or(now) - now)};
    rest_ = again.delay;
    tell_restart(outcome, verdict, again, news);
    return dispatch(RunEvent::Again);
  }
  for (const std::string& line : news) console_.print(line);
  end_ = std::get<EndJob>(decision);
  attempt_->leave();
}

void Run::tell_restart(const attempt::AttemptOutcome& outcome, const report::JobOutcome& verdict, const TryAgain& again,
                       const std::vector<std::string>& news) {
  events_.publish(report::AttemptFails{
      attempt_number(), verdict.exit_code, report::in_words(verdict),
      verdict.root_cause != nullptr ? std::optional(verdict.root_cause->rank) : std::nullopt, again.delay});
  std::vector<std::string> lines = news;
  if (options_.verbosity != Verbosity::Quiet) {
    lines = report::attempt_report(outcome.facts, verdict);
    lines.insert(lines.end(), news.begin(), news.end());
    lines.push_back(restarts_.announcement(again));
  }
  for (const std::string& line : lines) console_.print(line);
}

// Ends running workers for new hosts, unless some have ended already, as the others soon will.
void Run::look_for_growth() {
  if (attempt_->elastic().hears_of_hosts()) {
    if (changing_hosts_.is_quiet(Clock::now())) attempt_->elastic().look_at_hosts();
    return;
  }
  const bool all_run = attempt_->workers().table().workers_left() == attempt_->plan().map.world_size();
  if (!attempt_->runs() || !all_run) return;
  const Result<plan::JobMap> next = next_map();
  if (!next) return;
  const std::string why = changing_hosts_.reason_to_regroup(attempt_->planned().map, *next, Clock::now());
  if (why.empty()) return;
  console_.print("the workers are ended, and start anew: " + why);
  attempt_->stop_to_regroup();
}

// Not before the last worker of a lost host has ended, which the launcher cannot observe.
void Run::rest() {
  const TimePoint wanted = Clock::now() + rest_;
  rest_ = Duration::zero();
  rest_timer_.expires_at(std::max(wanted, fleet_.lost_workers_end().value_or(wanted)));
  rest_timer_.async_wait([this](boost::system::error_code error) {
    if (error || machine_.state() != RunState::Resting || rest_timer_.expiry() > Clock::now()) return;
    if (!attempt_->is_cleared()) return;  // the agents are leaving
    const std::optional<Duration> wait = changing_hosts_.wait_for(next_map(), Clock::now());
    rest_ = wait.value_or(Duration::zero());
    if (fleet_.lost_workers_end() || wait) return rest();
    dispatch(RunEvent::Rested);
  });
}

bool Run::may_mend() const { return changing_hosts_.may_mend() && !next_hosts_.all_are_out_for_good(changing_hosts_); }

void Run::host_lost_at_rest() {
  if (machine_.state() != RunState::Resting) return;
  const Result<plan::JobMap> next = next_map();
  if (next || may_mend()) return;
  end_ = {next.error().message()};
  rest_timer_.expires_at(TimePoint::max());  // hosts need time to leave
  attempt_->leave();
}

// ---- hosts that are one machine

// Called from the loop, since it replaces the hosts and their attempt.
void Run::replan() {
  const std::vector<hosts::MachineNames> machines = attempt_->outcome().machines;
  if (machines.empty()) return attempt_->leave();  // a host is lost, or the user has stopped the job
  Result<plan::LaunchPlan> next = replan_(machines);
  if (next) next->map = plan::take_over_ids(std::move(next->map), attempt_->plan().map);
  const Result<void> renewed = next ? records_.start_over(options_, *next) : Result<void>(next.error());
  if (!renewed) return attempt_->stop_for(renewed.error());
  next->job = attempt_->plan().job;
  next_plan_ = std::move(*next);
  dispatch(RunEvent::Replanned);
}

// Hosts that wait stay connected.
void Run::begin_anew() {
  const std::size_t known = attempt_->plan().map.hosts.size();
  std::vector<HostId> other_names;
  std::vector<plan::Host> fresh;
  for (const plan::MappedHost& host : next_plan_->map.hosts) {
    if (host.duty == plan::HostDuty::Out) other_names.push_back(host.id);
    if (host.id.value() >= known) fresh.push_back(host.host);
  }
  other_names_ = other_names.size();
  fleet_.replan(other_names, fresh);
  begin_with(std::move(*std::exchange(next_plan_, std::nullopt)), first_terms(options_));
}

// ---- replacing the attempt

void Run::begin_again() {
  Result<plan::JobMap> next = next_map();
  if (!next) {
    end_ = {next.error().message()};
    return attempt_->leave();
  }
  plan::LaunchPlan plan = attempt_->planned();
  if (options_.verbosity != Verbosity::Quiet) {
    for (const std::string& change : plan::changes(plan.map, *next)) console_.print(change);
  }
  plan.map = std::move(*next);
  ++plan.job.attempt;
  plan.job.restarts = restarts_.used();
  if (Result<void> renewed = records_.renew_logs(options_, plan); !renewed) {
    log_failed(renewed.error());
    if (options_.logs.on_fault == OnLogFault::EndJob) return;
  }
  attempt::Terms terms = first_terms(options_);
  terms.first_start = attempt_->first_start();
  terms.hosts_told = attempt_->plan().map.hosts.size();
  terms.restarts_used = restarts_.used();
  begin_with(std::move(plan), terms);
}

void Run::begin_with(plan::LaunchPlan plan, const attempt::Terms& terms) {
  listen_to_logs();
  streams_.take_input_back();
  auto before =
      std::exchange(attempt_, std::make_unique<attempt::Attempt>(loop_, options_, std::move(plan), terms, fleet_,
                                                                 events_, static_cast<AttemptOwner&>(*this), streams_));
  if (attempt_number() == 1) {
    streams_.give_input();
    tell_begin();
  } else {
    events_.publish(report::AttemptBegins{attempt_number(), &attempt_->plan()});
  }
  before.reset();
  console_.begin_again(tag_subjects(attempt_->plan().map), options_.output);
  fleet_.start();
  attempt_->begin();
}

// ---- output and input of the workers

void Run::begin_logs(std::function<void()> then) {
  dispatch(RunEvent::WorkersStart);
  records_.logs().begin(std::move(then));
}

void Run::reader_caught_up() {
  attempt_->workers().give_credit();
  if (machine_.state() == RunState::Leaving) look_at_reader();
}

void Run::look_at_reader() {
  const bool kept = !records_.logs().is_busy() && records_.results().pending() == 0;
  if ((console_.pending() == 0 || output_gone_) && kept) dispatch(RunEvent::ReaderDone);
}

void Run::output_gone(int sys_errno) {
  if (options_.output.when_gone == OutputOptions::Gone::IsIgnored) {
    return console_.print("cannot write the workers' output (" + errno_text(sys_errno) +
                          "); the job goes on without it");
  }
  output_gone_ = true;
  attempt_->stop_for_lost_output(sys_errno);
}

// Handles only the first failure: later ones have the same cause.
void Run::log_failed(const Error& why) {
  if (std::exchange(warned_of_logs_, true)) return;
  if (options_.logs.on_fault == OnLogFault::Warn) {
    return console_.print("the logs of ranks are not complete: " + why.message() + "; the job goes on");
  }
  attempt_->stop_for(Error(ErrorKind::Io, "the logs of ranks cannot be kept: " + why.message())
                         .with_hint("--log-strict asks for that"));
}

void Run::ranks_missing() { report_while_running("not all ranks have joined"); }

void Run::report_while_running(const std::string& why) {
  if (attempt_->runs()) hang_reports_.print(why, TraceTools::NonStopping);
}

void Run::before_end(std::function<void()> then) {
  hang_reports_.print("before the workers are ended", TraceTools::All, std::move(then));
}

// A stop that insists after the job has ended skips the wait for the reader, and for hosts that receive the outcome.
void Run::stop(const Stop& asked) {
  const os::StopEffect effect = stop_rule_.heed(asked.sender, asked.signo, Clock::now());
  if (effect == os::StopEffect::Echoes) return;
  if (!asked.news.empty()) console_.print(asked.news);
  const RunState state = machine_.state();
  const bool attempting = state != RunState::Leaving && state != RunState::Over;
  if (effect == os::StopEffect::Joins) {
    if (attempting && asked.news.empty()) {
      console_.print(signal_name(asked.signo) + " joins the stop of the workers that is under way; " +
                     report::how_to_insist(asked.signo));
    }
    return;
  }
  if (!attempting) return dispatch(RunEvent::UserStop);
  if (state == RunState::Resting) rest_timer_.expires_at(TimePoint::max());  // hosts need time to leave
  if (effect == os::StopEffect::Insists) return attempt_->stop_at_once(asked.signo);
  attempt_->stop(asked.signo);
}

// ---- the end

// Reports the end of the job; returns the exit status. No host waits for a file.
int Run::conclude() {
  console_.end_status();
  console_.workers_done();
  const auto print = [this](const std::string& text) { console_.print(text); };
  const Conclusion conclusion(
      {options_, attempt_->plan(), restarts_, end_, progress_.so_far(), progress_.goodput(), print, files_},
      attempt_->outcome());
  conclusion.print_outcome();
  if (records_.wants_report()) records_.write_report(conclusion.report(), files_);
  conclusion.leave_error_file();
  const transport::RunEnd end = conclusion.leave_failure_file();
  fleet_.dismiss();
  fleet_.send_end(end);
  fleet_.clean_up(print);
  events_.publish(conclusion.event());
  observers_.send_end();
  records_.finish(files_, print);  // while the last messages are on their way
  observers_.finish();
  files_.finish();
  const int exit_code = conclusion.verdict().exit_code;
  control_.send_end(exit_code, report::in_words(conclusion.verdict()));
  control_.close();
  console_.flush_last(kLastWordsMs);
  fleet_.close();
  return exit_code;
}

}  // namespace sml::run
