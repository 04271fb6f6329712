// One run of all workers of a plan, from the first host to the last end. Drives its machine and the fleet's hosts; what
// lasts longer than the workers belongs to the run.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/attempt_outcome.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/checkpoint_pause.h"
#include "launcher/attempt/health_gate.h"
#include "launcher/attempt/inquiry.h"
#include "launcher/attempt/meeting.h"
#include "launcher/attempt/use_inquiry.h"
#include "launcher/attempt/wire_up.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/event_feed.h"

namespace sml::attempt {

// What an attempt is told of the run, beside the plan.
struct Terms {
  // Stay: another attempt may follow, AttemptOwner::attempt_cleared() is called, and the agents wait.
  launch::Afterwards afterwards = launch::Afterwards::Leave;
  TimePoint first_start;  // of the workers of the first attempt, from which --timeout counts; zero: this is the first
};

class Attempt final : public fleet::FleetListener {
 public:
  // What is given outlives the attempt. Its hosts go into `fleet`, which tells it what they do from when it is started.
  // A further attempt is made when the one before is cleared, and before that one is destroyed.
  Attempt(boost::asio::io_context& loop, const JobOptions& options, plan::LaunchPlan plan, const Terms& terms,
          fleet::Fleet& fleet, const report::EventFeed& events, AttemptOwner& owner, WorkerSink& sink);

  const plan::LaunchPlan& plan() const { return plan_; }
  bool runs() const { return machine_.state() == AttemptState::Running; }

  // The time to start begins.
  void begin();
  // After news of a host, such as that one which was missing has come: goes on when all are ready.
  void look_round();
  // It is cleared, and no other follows: lets the agents go.
  void leave() { tell(AttemptEvent::NoMore); }
  // By the user.
  void stop(int signo);
  void stop_for_lost_output(int sys_errno);
  void stop_for_lost_log(Error why);
  void stop_for_no_progress(report::NoProgress what);
  void reader_caught_up() { workers_.give_credit(); }
  // Where its workers are now; none where none run.
  void look_for_workers(TraceTools tools, Inquiry::Done done) { inquiry_.ask(tools, std::move(done)); }
  // What they use now, likewise.
  void look_at_use(UseInquiry::Done done) { use_inquiry_.ask(std::move(done)); }
  report::OutputFlow flow() const { return workers_.flow(); }

  // After AttemptOwner::attempt_over() or attempt_cleared(); what comes to be known later is in it, too.
  AttemptOutcome outcome() const;

  // FleetListener
  void host_introduced(fleet::Host& host) override;
  void host_prepared(fleet::Host& host, const wire::Prepared& message) override;
  void host_message(fleet::Host& host, wire::ToLauncher message) override;
  void host_step(const fleet::Host& host) override;
  void host_ended(fleet::Host& host, const Error* why) override;
  void hosts_pinged() override;
  void spare_message(fleet::Host& host, const wire::ToLauncher& message) override;
  void spare_step(const fleet::Host& host) override;
  void spare_waits(fleet::Host& host) override;
  void spare_ended(fleet::Host& host, const Error* why) override;

 private:
  struct OfHost {
    bool prepared = false;
    bool ready = false;  // ... and well
    bool failed = false;
    bool released = false;  // we let it go; its end is no news
  };

  // What Workers and Meeting make of it concerns nobody else; what is left is noted or not asked for.
  template <class Message>
  void handle(fleet::Host& host, const Message& m);
  void let_go(fleet::Host& host, const wire::Stop& stop);
  void tell_of_secrets(const fleet::Host& host);
  void note_health(fleet::Host& host, const wire::Health& message);
  void look_if_ready(fleet::Host& host);
  std::string awaited_step(const fleet::Host& host) const;
  void note_mpi(fleet::Host& host, const wire::Prepared& message);
  void found_mpi(const std::string& host, const wire::MpiUse& use);
  void left(fleet::Host& host, const wire::Bye& m);
  void worker_ended(const fleet::Host& host, const wire::ExitedWorker& m);
  void worker_failed(const fleet::Host& host, const wire::RankFault& m);

  void tell(AttemptEvent event);
  void perform(AttemptAction action);
  void look_at_probes();
  void start_all();
  void stop_all();
  int stop_signal() const;
  // Whoever wants to sees where the workers are, and they may save what they have; then they are ended.
  void end_softly();
  void count_joined();
  void let_save();
  bool may_save() const;
  void cut_saving_short();
  void clear();
  void look_for_end();
  void time_out_start();
  void finish(AttemptOwner::End end);
  void arm_deadline();
  void add_fault(HostIndex host, Error why);
  void fail_host(fleet::Host& host, Error why);
  OfHost& of(const fleet::Host& host) { return hosts_[host.position]; }

  const JobOptions& options_;
  plan::LaunchPlan plan_;
  AttemptOwner& owner_;
  WorkerSink& sink_;
  Terms terms_;
  fleet::Fleet& fleet_;
  const report::EventFeed& events_;
  AttemptMachine machine_;
  boost::asio::steady_timer deadline_timer_;
  std::vector<OfHost> hosts_;  // by position in the fleet
  HealthGate health_;
  Workers workers_;
  Meeting meeting_;
  WireUp wire_up_;
  Inquiry inquiry_;
  UseInquiry use_inquiry_;
  CheckpointPause pause_;
  report::Facts facts_;
  double started_unix_ = 0;
  struct MpiFound {
    HostIndex host;
    wire::MpiUse use;
  };
  std::optional<MpiFound> mpi_found_;  // before the start, of the lowest rank
  bool warned_of_mpi_;
  bool told_of_secrets_ = false;
  TimePoint told_whom_we_await_ = Clock::now();
  bool is_looked_at_ = false;  // before the stop that comes
  bool no_more_ = false;       // the user has asked for the end while the workers were being ended
  std::vector<hosts::OneMachine> machines_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
