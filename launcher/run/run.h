// Runs a job from the first connection to the exit status of sml-run. Owns its parts (signals, console, records, input,
// hosts, one attempt at a time) and connects them; each part decides what it can decide by itself.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt.h"
#include "launcher/attempt/attempt_outcome.h"
#include "launcher/dialin/coordinator/coordinator.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/os/stop_rule.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/run/console.h"
#include "launcher/run/job_signals.h"
#include "launcher/run/own_process.h"
#include "launcher/run/records.h"
#include "launcher/run/restarts/restart_controller.h"
#include "launcher/run/run_machine.h"
#include "launcher/run/watch/file_work.h"
#include "launcher/run/watch/hang_reports.h"
#include "launcher/run/watch/job_control.h"
#include "launcher/run/watch/observers.h"
#include "launcher/run/watch/progress_file_poller.h"
#include "launcher/run/watch/progress_watch.h"
#include "launcher/run/watch/usage_poller.h"
#include "launcher/run/watch/watched_job.h"
#include "launcher/run/worker_streams.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_launcher.h"

namespace sml::run {

class Run final : private attempt::AttemptOwner, private WatchedJob, private Console::Listener {
 public:
  // Makes the plan again after several of its hosts have turned out to be one machine; `machines` has the names of each
  // such machine. Warns the user where needed.
  using Replan = std::function<Result<plan::LaunchPlan>(std::span<const hosts::MachineNames> machines)>;

  // The run's dependencies; all references outlive it.
  struct Deps {
    boost::asio::io_context& loop;
    const transport::AgentImage& image;
    OwnProcess& process;
    std::unique_ptr<transport::AgentLauncher> agent_launcher;  // to the hosts of the plan, by their positions there
    std::weak_ptr<dialin::Coordinator> head = {};              // as in HostDiscovery
  };
  // `options` outlives the run, too.
  Run(Deps deps, const JobOptions& options, plan::LaunchPlan plan, Records records, Replan replan);
  ~Run() override;

  // Runs the job to its end; returns the exit status of sml-run (EXIT STATUS in its manual). Runs the loop on the
  // calling thread; call it once. Afterwards the process must end by _Exit(): a name lookup may still be in progress on
  // a pool thread, and cannot be ended.
  int run();

 private:
  // AttemptOwner
  void print(const std::string& text) override { console_.print(text); }
  void complete(transport::AgentSession::Plan& session) override { records_.logs().instruct(session); }
  void begin_logs(std::function<void()> then) override;
  void ranks_missing() override { hang_reports_.print_while_running("not all ranks have joined"); }
  void before_end(std::function<void()> then) override;
  void host_log_failed(const Error& why) override { log_failed(why); }
  void attempt_cleared() override { dispatch(RunEvent::AttemptCleared); }
  void attempt_over(End end) override {
    dispatch(end == End::GivenUp ? RunEvent::AttemptGivenUp : RunEvent::AttemptOver);
  }
  void host_lost_at_rest() override;
  Result<plan::JobMap> next_round(const plan::JobMap& round, const std::vector<HostId>& out) const override {
    return restarts_.next_round(round, out);
  }

  // WatchedJob
  const plan::LaunchPlan& plan() const override { return attempt_->plan(); }
  bool workers_run() const override { return attempt_->runs(); }
  void look_for_workers(TraceTools tools, attempt::StackQuery::Done done) override {
    attempt_->queries().look_for_workers(tools, std::move(done));
  }
  void fetch_records(attempt::RecordQuery::Done done) override { attempt_->queries().fetch_records(std::move(done)); }
  void stop_for(const std::string& who) override;
  // Console::Listener
  void reader_caught_up() override;
  void output_gone(int sys_errno) override;

  void dispatch(RunEvent event);
  void perform(RunAction action);
  transport::AgentLauncher::Events launcher_events();
  void begin_records();
  void listen_to_logs();
  void tell_begin();
  std::uint32_t attempt_number() const { return attempt_->plan().job.attempt + 1; }
  void ask_for_progress();
  void decide(const attempt::AttemptOutcome& outcome, std::optional<bool> file_touched);
  void replan();
  void begin_anew();
  void begin_again();
  attempt::AttemptContext attempt_context() {
    return {loop_.get_executor(), options_, fleet_, events_, *this, streams_};
  }
  void begin_with(plan::LaunchPlan plan, const attempt::Terms& terms);
  void look_at_reader();
  void log_failed(const Error& why);
  void stop(const Stop& stop);
  int conclude();

  const JobOptions& options_;
  const TimePoint began_ = Clock::now();
  boost::asio::io_context& loop_;
  Console console_;
  report::EventFeed events_;  // all events, for the parts that record or show them
  Records records_;
  Replan replan_;
  std::optional<plan::LaunchPlan> next_plan_;  // from Replan to BeginAnew
  RunMachine machine_;
  FileWork files_;
  fleet::Fleet fleet_;
  WorkerStreams streams_;
  std::unique_ptr<attempt::Attempt> attempt_;
  RestartController restarts_;
  ProgressWatch progress_;
  ProgressFilePoller progress_file_;
  HangReports hang_reports_;
  UsagePoller use_looks_;
  JobControl control_;
  Observers observers_;
  JobSignals signals_;
  os::StopRule stop_rule_;
  bool output_gone_ = false;     // stdout accepts no more data
  bool warned_of_logs_ = false;  // a failure of the logs has been handled; later ones are ignored
};

}  // namespace sml::run
