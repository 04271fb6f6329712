// One run of all workers of a plan, from the first host to the last end. Drives its machine and the fleet's hosts; what
// lasts longer than the workers belongs to the run.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/attempt_outcome.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/elastic_job.h"
#include "launcher/attempt/ending.h"
#include "launcher/attempt/health_gate.h"
#include "launcher/attempt/late_hosts.h"
#include "launcher/attempt/lone_mpi_watch.h"
#include "launcher/attempt/meeting.h"
#include "launcher/attempt/plan_growth.h"
#include "launcher/attempt/questions.h"
#include "launcher/attempt/roster.h"
#include "launcher/attempt/spares.h"
#include "launcher/attempt/spawns.h"
#include "launcher/attempt/wire_up.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/launch/deadline_timer.h"
#include "launcher/options/job_options.h"
#include "launcher/report/event_feed.h"

namespace sml::attempt {

// What an attempt is told of the run, beside the plan.
struct Terms {
  // Stay: another attempt may follow, AttemptOwner::attempt_cleared() is called, and the agents wait.
  launch::Afterwards afterwards = launch::Afterwards::Leave;
  TimePoint first_start;  // of the workers of the first attempt, from which --timeout counts; zero: this is the first
  std::uint32_t restarts_used = 0;  // by the attempts before
  std::size_t hosts_told = 0;  // of the plan before, of which those who hear of events have been told; 0: there is none
};

class Attempt final : public fleet::FleetListener {
 public:
  // What is given outlives the attempt. Its hosts go into `fleet`, which tells it what they do from when it is started.
  // A further attempt is made when the one before is cleared, and before that one is destroyed.
  Attempt(boost::asio::io_context& loop, const JobOptions& options, plan::LaunchPlan plan, const Terms& terms,
          fleet::Fleet& fleet, const report::EventFeed& events, AttemptOwner& owner, WorkerSink& sink);

  // With the ranks that have come since; planned() has those alone with which it began.
  const plan::LaunchPlan& plan() const { return plan_; }
  const plan::LaunchPlan& planned() const { return growth_.planned(); }
  bool runs() const { return machine_.state() == AttemptState::Running; }
  // Of the workers of the job's first attempt that had any; TimePoint(): none has.
  TimePoint first_start() const { return std::max(terms_.first_start, facts_.first_start); }
  bool is_cleared() const { return machine_.state() == AttemptState::Cleared; }  // another may follow

  // The time to start begins.
  void begin();
  // After news of a host, such as that one which was missing has come: goes on when all are ready.
  void look_round();
  // It is cleared, and no other follows: lets the agents go.
  void leave() { tell(AttemptEvent::NoMore); }
  // By the user; joins an end that has begun by itself, after which no other attempt follows.
  void stop(int signo);
  // ... who does not want to wait until it is over.
  void stop_at_once(int signo);
  void stop_for_lost_output(int sys_errno);
  // For a fault of our own: a log that cannot be kept, no plan.
  void stop_for(Error why);
  void stop_for_no_progress(report::NoProgress what);
  // Its workers are ended so that the next has them on other hosts, or more.
  void stop_to_regroup();
  Questions& questions() { return questions_; }
  Spares& spares() { return spares_; }
  ElasticJob& elastic() { return elastic_; }
  Workers& workers() { return workers_; }

  // After AttemptOwner::attempt_over() or attempt_cleared(); what comes to be known later is in it, too.
  AttemptOutcome outcome() const;

  // FleetListener
  void host_introduced(fleet::Host& host) override;
  void host_prepared(fleet::Host& host, const wire::Prepared& message) override;
  void host_message(fleet::Host& host, wire::ToLauncher message) override;
  void host_step(const fleet::Host& host) override;
  void host_ended(fleet::Host& host, const Error* why) override;
  void hosts_pinged() override;

 private:
  // What Workers and Meeting make of it concerns nobody else; what is left is noted or not asked for.
  template <class Message>
  void handle(fleet::Host& host, const Message& m);
  void left(fleet::Host& host, const wire::Bye& m);
  void worker_ended(const fleet::Host& host, const wire::ExitedWorker& m);

  void tell(AttemptEvent event);
  void perform(AttemptAction action);
  void look_at_probes();
  void start_all();
  void start_workers();
  void found_one_machine(std::vector<hosts::MachineNames> machines);
  void look_for_end();
  void finish(AttemptOwner::End end);
  void look_for_refused();
  void add_fault(HostIndex host, Error why);
  void fail_host(fleet::Host& host, Error why);

  const JobOptions& options_;
  plan::LaunchPlan plan_;
  AttemptOwner& owner_;
  WorkerSink& sink_;
  Terms terms_;
  fleet::Fleet& fleet_;
  const report::EventFeed& events_;
  AttemptMachine machine_;
  HealthGate health_;
  Spares spares_;
  launch::DeadlineTimer deadline_timer_;
  report::Facts facts_;
  Roster roster_;
  Workers workers_;
  Meeting meeting_;
  WireUp wire_up_;
  LateHosts late_;
  PlanGrowth growth_;
  Spawns spawns_;
  Questions questions_;
  LoneMpiWatch lone_mpi_;
  ElasticJob elastic_;
  Ending ending_;
  double started_unix_ = 0;
  std::vector<hosts::MachineNames> machines_;
};

}  // namespace sml::attempt
