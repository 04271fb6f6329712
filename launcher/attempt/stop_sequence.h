// How an attempt ends its workers: first the user may see where they are, then the workers may save their state, and
// then they are asked to end.
#pragma once
#include <csignal>
#include <memory>
#include <optional>

#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/hosts/host_readiness.h"
#include "launcher/attempt/pre_stop_checkpoint.h"
#include "launcher/attempt/rendezvous/rendezvous_setup.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/outcome/job_outcome.h"
#include "launcher/transport/session/deadline_timer.h"

namespace sml::attempt {

class StopSequence {
 public:
  // The parts of the attempt that this needs; all outlive this.
  struct Deps {
    const AttemptContext& context;
    const transport::Afterwards& afterwards;
    AttemptMachine& machine;
    transport::DeadlineTimer& deadline_timer;  // of the machine
    const report::AttemptFacts& facts;
    HostReadiness& readiness;
    Workers& workers;
    RendezvousSetup& rendezvous;
  };
  explicit StopSequence(Deps deps);

  static constexpr int kStacksSignal = SIGABRT;  // makes Python print the stacks of all threads of a hanging worker
  // Makes the next begin() show the user first where the workers are (AttemptOwner::before_end()). `signo` is the
  // signal of that stop.
  void look_before(int signo) { looked_at_ = signo; }
  // Call when `rank` hangs. With OnFailure::Abort, arms look_before() for the stop that follows; otherwise the other
  // ranks go on, so the user is shown where the ranks are and only this one is killed.
  void found_hanging(Rank rank);
  // Begins the stop, and returns before its steps are over.
  void begin();
  // Asks the workers to end now, without the steps before, and releases hosts that are not ready.
  void at_once();
  // The machine's grace has become longer: tells the agents, if they have been asked to end the workers.
  void give_time();
  // Whether the pause in which workers may save is under way.
  bool lets_save() const { return pause_.is_on(); }
  // Ends that pause and stops the workers now.
  void cut_saving_short();
  // Ends that pause and does nothing else.
  void saving_is_over() { pause_.end(); }
  // The user has asked for the end in the meantime: no other attempt follows.
  void no_more() { no_more_ = true; }

 private:
  wire::Stop message() const;
  int stop_signal() const;
  bool may_save() const;  // whether the workers get the pause
  void let_save();

  Deps deps_;
  PreStopCheckpoint pause_;
  std::optional<int> looked_at_;  // the signal of look_before(); nullopt: not called
  int signo_ = SIGTERM;           // of this stop, unless the user has sent one
  bool no_more_ = false;
  bool asked_ = false;  // at_once() has asked the agents to end the workers
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
