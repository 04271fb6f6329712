// How the workers of an attempt are ended: people may see where they are, the workers may save what they have, and then
// they are told to end.
#pragma once
#include <csignal>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/checkpoint_pause.h"
#include "launcher/attempt/meeting.h"
#include "launcher/attempt/roster.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/report/verdict.h"

namespace sml::attempt {

class Ending {
 public:
  // The attempt: all of it outlives this.
  struct Of {
    const JobOptions& options;
    const launch::Afterwards& afterwards;
    fleet::Fleet& fleet;
    AttemptMachine& machine;
    const report::Facts& facts;
    Roster& roster;
    Workers& workers;
    Meeting& meeting;
    AttemptOwner& owner;
    std::function<void()> moved;  // the machine's deadline has been
  };
  Ending(const boost::asio::any_io_executor& loop, Of attempt);

  static constexpr int kStacksSignal = SIGABRT;  // makes Python print the stacks of all threads of who hangs
  // The next end is one before which people see where the workers are; `signo` is then what ends them.
  void look_before(int signo) { looked_at_ = signo; }
  // That end follows, or, where the others go on, people see where the ranks are and this one is killed.
  void found_hanging(Rank rank);
  void begin();
  // Without any of that.
  void at_once();
  // The workers may be saving now.
  bool lets_save() const { return pause_.is_on(); }
  // They need not be waited for any more.
  void cut_saving_short();
  void saving_is_over() { pause_.end(); }
  // The user has asked for the end meanwhile: no other attempt follows.
  void no_more() { no_more_ = true; }

 private:
  int stop_signal() const;
  bool may_save() const;
  void let_save();
  static void let_go(fleet::Host& host, const wire::Stop& stop);

  Of of_;
  CheckpointPause pause_;
  std::optional<int> looked_at_;
  int signo_ = SIGTERM;
  bool no_more_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
