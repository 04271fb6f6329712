// One attempt: one run of all workers of a plan, from connecting the first host to the end of the last one. It drives
// its AttemptMachine and the hosts of the fleet, and owns the parts below. State that outlives the workers belongs to
// the run (AttemptOwner). One thread: that of the loop.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/attempt_control.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/attempt_outcome.h"
#include "launcher/attempt/dynamic/dynamic_ranks.h"
#include "launcher/attempt/hosts/health_check_gate.h"
#include "launcher/attempt/hosts/host_queries.h"
#include "launcher/attempt/hosts/host_readiness.h"
#include "launcher/attempt/hosts/spare_hosts.h"
#include "launcher/attempt/rendezvous/mpi_singleton_watch.h"
#include "launcher/attempt/rendezvous/rendezvous_setup.h"
#include "launcher/attempt/rendezvous/wire_up.h"
#include "launcher/attempt/root_cause_wait.h"
#include "launcher/attempt/stop_sequence.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/hosts/aliases.h"
#include "launcher/transport/session/deadline_timer.h"

namespace sml::attempt {

class Attempt final : public fleet::FleetListener, private AttemptControl {
 public:
  // The constructor adds the plan's hosts to the fleet, which calls this attempt back from its start on. Construct a
  // further attempt when the previous one is cleared, and before destroying that one.
  Attempt(const AttemptContext& context, plan::LaunchPlan plan, const Terms& terms);

  // plan() includes ranks that were added while the attempt ran; planned() only those with which it began.
  const plan::LaunchPlan& plan() const { return dynamic_.plan(); }
  const plan::LaunchPlan& planned() const { return planned_; }
  bool runs() const { return machine_.runs(); }
  // When the workers of the job's first attempt with workers started; TimePoint() if no workers have started.
  TimePoint first_start() const { return std::max(terms_.first_start, facts_.first_start); }
  bool is_cleared() const { return machine_.state() == AttemptState::Cleared; }  // another attempt may follow

  // Begins to watch the start timeout, which counts from the construction, and asks the agents that run already, those
  // of spare hosts too, for their hosts' health. Does not start the fleet: the caller does.
  void begin();
  // Call after news of a host, for example that a missing one has arrived: takes the attempt's next step if all hosts
  // are ready.
  void look_round();
  // Call when the attempt is cleared and no other follows: releases the agents.
  void leave() { dispatch(AttemptEvent::NoMore); }
  // Stops the attempt on the user's request, which came as the signal `signo`. A stop that is already under way
  // continues, but no other attempt follows it.
  void stop(int signo);
  // A stop signal has come when the attempt was over. Counts it as the user's stop if report::counts_late().
  void note_late_stop(int signo);
  // Call if the user does not want to wait until the stop is over: kills the workers at once.
  void stop_at_once(int signo);
  // The launcher's output cannot be written any more, with the errno `sys_errno`: stops, since the workers would block.
  void stop_for_lost_output(int sys_errno);
  // Stops for a reason in the launcher itself: a log that cannot be kept, or no plan to go on with.
  void stop_for(Error why) override;
  // Stops because ranks make no progress (--watch). Does nothing unless the workers run.
  void stop_for_no_progress(report::NoProgress what);
  // Ends the workers so that the next attempt can place them on other hosts, or on more. Does nothing unless the
  // workers run.
  void stop_to_regroup();
  HostQueries& queries() { return queries_; }
  SpareHosts& spares() { return spares_; }
  ElasticJob& elastic() { return dynamic_.elastic(); }
  Workers& workers() { return workers_; }

  // Valid after AttemptOwner::attempt_over() or attempt_cleared(). Judges what is known now: facts may still arrive
  // after that, such as a stop by the user while the attempt waits.
  AttemptOutcome outcome() const;
  // Not empty: some hosts of the plan are one machine, so no worker was started, and the outcome means nothing; each
  // list has the names of one machine. Empty, too, if the job ends for another reason.
  std::vector<hosts::MachineNames> machines() const;

  // FleetListener
  void host_introduced(fleet::Host& host) override;
  void host_prepared(fleet::Host& host, const wire::Prepared& message) override;
  void host_message(fleet::Host& host, wire::ToLauncher message) override;
  void host_step(const fleet::Host& host) override;
  void host_ended(fleet::Host& host, const Error* why) override;
  void hosts_pinged() override;

 private:
  // Passes the message to the one part that has a handle() for it.
  template <class Message>
  void handle(fleet::Host& host, const Message& m);
  // The messages to which the attempt itself reacts. Overload resolution prefers these to the template.
  void handle(fleet::Host& host, const wire::HelloAck& m);
  void handle(fleet::Host& host, const wire::Probed& m);
  void handle(fleet::Host& host, const wire::ExitedWorker& m);
  void handle(fleet::Host& host, const wire::Cleared& m);
  void handle(fleet::Host& host, const wire::Bye& m);
  void handle(fleet::Host& host, const wire::Health& m);
  void handle(fleet::Host& host, const wire::MpiUse& m);
  void handle(fleet::Host& host, const wire::FenceData& m);
  void handle(fleet::Host& host, const wire::Relay& m);
  void handle(fleet::Host& host, const wire::RankFault& m);
  void handle(fleet::Host& host, const wire::LogFailed& m);
  void handle(fleet::Host& host, const wire::FifoFailed& m);

  // AttemptControl
  void look_for_end() override;
  void give_up(const std::vector<report::AttemptFacts::HostFault>& lost) override;

  void dispatch(AttemptEvent event);
  void perform(AttemptAction action);
  void look_at_probes();
  void start_all();
  void start_workers();
  void found_one_machine(std::vector<hosts::MachineNames> machines);
  void finish(AttemptOwner::End end);
  void look_for_refused();
  void add_fault(HostIndex host, Error why);  // records and publishes it; changes no state
  // Reports that the host has failed, and passes HostFailed to the machine unless the job is elastic and can do without
  // the host.
  void fail_host(fleet::Host& host, Error why);

  const AttemptContext context_;
  const plan::LaunchPlan planned_;
  Terms terms_;
  AttemptMachine machine_;
  DynamicRanks dynamic_;
  HealthCheckGate health_;
  SpareHosts spares_;
  transport::DeadlineTimer deadline_timer_;
  report::AttemptFacts facts_;
  HostReadiness readiness_;
  Workers workers_;
  RendezvousSetup rendezvous_;
  WireUp wire_up_;
  HostQueries queries_;
  MpiSingletonWatch mpi_singleton_watch_;
  StopSequence stop_sequence_;
  RootCauseWait root_cause_wait_;
  double started_unix_ = 0;                    // AttemptOutcome::started_unix
  std::vector<hosts::MachineNames> machines_;  // that were found; see machines()
};

}  // namespace sml::attempt
