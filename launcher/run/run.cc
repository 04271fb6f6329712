#include "launcher/run/run.h"

#include <csignal>
#include <utility>

#include <boost/asio/post.hpp>

#include "common/core/clock.h"
#include "common/core/exit_status.h"
#include "common/core/text.h"
#include "common/core/transition_table.h"
#include "launcher/plan/regroup.h"
#include "launcher/report/live/status_text.h"
#include "launcher/report/outcome/stop_words.h"
#include "launcher/run/conclusion.h"
#include "launcher/run/worker_tags.h"

namespace sml::run {

namespace {

constexpr int kLastOutputMs = 1000;

attempt::Terms first_terms(const JobOptions& options) {
  return {options.restart.max > 0 ? transport::Afterwards::Stay : transport::Afterwards::Leave, {}};
}

}  // namespace

Run::Run(Deps deps, const JobOptions& options, plan::LaunchPlan plan, Records records, Replan replan)
    : options_(options),
      loop_(deps.loop),
      console_(loop_.get_executor(), tag_subjects(plan.map), options.output, *this),
      records_(std::move(records)),
      replan_(std::move(replan)),
      files_(loop_, console_),
      fleet_(loop_, deps.image, std::move(deps.agent_launcher), options.heartbeat_timeout),
      streams_(loop_.get_executor(), {options, *this, fleet_, console_, records_, events_, progress_, control_}),
      attempt_(std::make_unique<attempt::Attempt>(attempt_context(), std::move(plan), first_terms(options))),
      restarts_({loop_, options, fleet_, events_, files_, attempt_, console_, std::move(deps.head)}),
      progress_(loop_.get_executor(), {options, attempt_, hang_reports_, console_}),
      progress_file_(loop_.get_executor(), options.restart.progress_file,
                     [this](const report::StepNumbers& step) { progress_.file_written(step); }),
      hang_reports_({*this, progress_.so_far(), console_, records_.hang_folder(), files_}),
      use_looks_(loop_.get_executor(), options.usage, attempt_),
      control_(loop_.get_executor(), {options, *this, fleet_, events_, console_, progress_, hang_reports_, use_looks_}),
      observers_(loop_.get_executor(), {options, progress_, use_looks_, console_}),
      signals_(loop_, {options, deps.process, fleet_, console_, events_, progress_.so_far(),
                       [this](const Stop& asked) { stop(asked); }}) {}

Run::~Run() = default;

int Run::run() {
  ::signal(SIGPIPE, SIG_IGN);
  if (Result<void> open = fleet_.open(launcher_events()); !open) {
    console_.print(open.error().message());
    if (!open.error().hint().empty()) console_.print("hint: " + open.error().hint());
    console_.flush_last(kLastOutputMs);
    return exit_code_of(open.error().kind());
  }
  streams_.give_input();
  signals_.begin();
  begin_records();
  fleet_.start();
  attempt_->begin();
  restarts_.begin();
  loop_.run();
  loop_.restart();
  loop_.poll();  // a stop signal may have come together with the end of the job, which may come of it
  restarts_.end();
  fleet_.stop_preparing();
  return conclude();
}

transport::AgentLauncher::Events Run::launcher_events() {
  return {.print = [this](const std::string& text) { console_.print(text); },
          .come = [this] { attempt_->look_round(); },
          .stop_asked =
              [this](const std::string& host, int signo) {
                signals_.heed({host, host + " has been asked to stop (" + signal_name(signo) + ")", signo});
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
  records_.begin(loop_.get_executor(), events_, progress_.goodput(), console_);
  records_.results().begin(loop_.get_executor(), console_, [this] { reader_caught_up(); });
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
    console_.print(ignored(event, before));
  }
  perform(action);
}

void Run::perform(RunAction action) {
  switch (action) {
    case RunAction::None:
    case RunAction::Unexpected: return;
    case RunAction::Decide: return ask_for_progress();
    case RunAction::Rest: return restarts_.rest([this] { dispatch(RunEvent::Rested); });
    case RunAction::Replan: return boost::asio::post(loop_, [this] { replan(); });
    case RunAction::Begin: return begin_again();
    case RunAction::BeginAnew: return begin_anew();
    case RunAction::AwaitReader: return look_at_reader();
    case RunAction::Finish: return loop_.stop();
  }
}

// ---- from one attempt to the next

void Run::ask_for_progress() {
  if (!attempt_->machines().empty()) return dispatch(RunEvent::OneMachine);
  const auto outcome = std::make_shared<const attempt::AttemptOutcome>(attempt_->outcome());
  if (outcome->verdict.exit_code == 0) return decide(*outcome, std::nullopt);
  progress_file_.ask([this, outcome](std::optional<bool> touched) {
    if (machine_.state() != RunState::Clearing || !attempt_->is_cleared()) return;  // the agents are leaving
    if (!touched && !options_.restart.progress_file.empty()) {
      console_.print("--progress-file: its file system does not answer; the job goes on without it");
    }
    decide(*outcome, touched);
  });
}

void Run::decide(const attempt::AttemptOutcome& outcome, std::optional<bool> file_touched) {
  const Signs signs{outcome.all_joined, outcome.some_joined, file_touched, progress_.line_matched()};
  if (restarts_.ended(outcome, signs)) return dispatch(RunEvent::Again);
  attempt_->leave();
}

void Run::host_lost_at_rest() {
  if (machine_.state() == RunState::Resting && !restarts_.can_do_without_lost()) attempt_->leave();
}

// ---- hosts that are one machine

// Called from the loop, since it replaces the hosts and their attempt.
void Run::replan() {
  const std::vector<hosts::MachineNames> machines = attempt_->machines();
  if (machines.empty()) return attempt_->leave();  // a host is lost, or the user has stopped the job
  const plan::LaunchPlan& before = attempt_->plan();
  Result<plan::LaunchPlan> next = replan_(machines);
  if (next) {
    plan::JobMap map = plan::take_over_ids(std::move(next->map), before.map);
    next =
        plan::for_attempt(std::move(*next), std::move(map), before.job.attempt, before.job.restarts, before.job.job_id);
  }
  const Result<void> renewed = next ? records_.start_over(options_, *next) : Result<void>(next.error());
  if (!renewed) return attempt_->stop_for(renewed.error());
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
  restarts_.set_other_names(other_names.size());
  fleet_.replan(other_names, fresh);
  begin_with(std::move(*std::exchange(next_plan_, std::nullopt)), first_terms(options_));
}

// ---- replacing the attempt

void Run::begin_again() {
  std::optional<plan::JobMap> next = restarts_.next_map();
  if (!next) return attempt_->leave();
  const plan::LaunchPlan& before = attempt_->planned();
  if (options_.verbosity != Verbosity::Quiet) {
    for (const std::string& change : plan::changes(before.map, *next)) console_.print(change);
  }
  plan::LaunchPlan plan =
      plan::for_attempt(before, std::move(*next), before.job.attempt + 1, restarts_.used(), before.job.job_id);
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
  auto before = std::exchange(attempt_, std::make_unique<attempt::Attempt>(attempt_context(), std::move(plan), terms));
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

void Run::before_end(std::function<void()> then) {
  hang_reports_.print("before the workers are ended", TraceTools::All, std::move(then));
}

void Run::stop_for(const std::string& who) { signals_.heed({"sml-run stop", "asked to stop by " + who, SIGTERM}); }

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
  if (!attempting) {
    attempt_->note_late_stop(asked.signo);
    return dispatch(RunEvent::UserStop);
  }
  if (state == RunState::Resting) restarts_.end_rest();  // hosts need time to leave
  if (effect == os::StopEffect::Insists) return attempt_->stop_at_once(asked.signo);
  attempt_->stop(asked.signo);
}

// ---- the end

// Reports the end of the job; returns the exit status. No host waits for a file.
int Run::conclude() {
  console_.end_status();
  console_.workers_done();
  const Conclusion conclusion(
      {options_, attempt_->plan(), restarts_, progress_.so_far(), progress_.goodput(), console_, files_},
      attempt_->outcome());
  conclusion.print_outcome();
  if (records_.wants_report()) records_.write_report(conclusion.report(attempt_->workers().table().ends()), files_);
  conclusion.leave_error_file();
  const transport::RunEnd end = conclusion.leave_failure_file();
  fleet_.dismiss();
  fleet_.send_end(end);
  fleet_.clean_up([this](const std::string& text) { console_.print(text); });
  events_.publish(conclusion.event());
  observers_.send_end();
  records_.finish(files_, console_);  // while the last messages are on their way
  observers_.finish();
  files_.finish();
  const int exit_code = conclusion.verdict().exit_code;
  control_.send_end(exit_code, report::in_words(conclusion.verdict()));
  control_.close();
  console_.flush_last(kLastOutputMs);
  fleet_.close();
  return exit_code;
}

}  // namespace sml::run
