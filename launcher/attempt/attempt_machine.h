// One attempt: when to start, when to stop, when it is over. Pure: told what happened and when, answers what to do.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/clock.h"

namespace sml::attempt {

enum class AttemptState : std::uint8_t {
  Connecting,  // agents are being started
  Failing,     // a host has failed; the others get a moment to say whether they fail too, so that one message names all
  Probing,     // the other hosts try the address of rank 0's host
  Running,
  Stopping,  // ended by a failure, the user, or a deadline; agents end their workers
  Cleared,   // nothing of the workers is left; the agents wait for another attempt, or to be let go
  Leaving,   // they are let go
  Finished,
};
enum class AttemptEvent : std::uint8_t {
  AllReady,    // every host can start its workers
  AllSettled,  // every host is ready or has failed
  OneMachine,  // every host is ready, and some are one machine under several names
  HostFailed,  // could not be reached or prepared, or was lost
  AllProbed,   // an address that all hosts reach has been found
  WorkerFailed,
  UserStop,     // the first wish that it should end
  UserInsists,  // a further one that cuts the grace short (stop_rule.h)
  OutputGone,   // nobody reads our output any more
  LogFailed,    // what must be kept of it cannot be
  NoProgress,   // ranks do not print what --watch waits for, or nothing
  RanksAlone,   // they speak MPI, and the job is one that needs them together
  Regroup,      // other hosts are to have workers
  AllCleared,   // on every host that is there all is over; the agents stay
  NoMore,       // attempts: the agents need not stay
  AllEnded,     // no session is open
  Deadline,
  TimeUp,  // what Deadline is when --timeout has passed while no worker of this attempt runs
};
enum class AttemptAction : std::uint8_t {
  None,
  Unexpected,  // there is no such row: nothing is done, and nothing has changed
  Probe,
  StartAll,
  StopAll,  // SIGTERM (or the user's signal), grace, SIGKILL; hosts that are not ready are let go at once
  KillAll,  // the grace is over now
  TellCleared,
  Finish,
  TimeOutStart,  // StopAll; the hosts that are not ready are to blame
  TimeOutRun,    // StopAll, when people have seen where the workers are; the user's own limit has passed
  TimeOutRest,   // StopAll; it has passed while no worker ran
  GiveUp,        // hosts that have not confirmed the end are named, then Finish
};

std::string_view name(AttemptState state);
std::string_view name(AttemptEvent event);

class AttemptMachine {
 public:
  static constexpr Duration kGather = std::chrono::seconds(2);    // Failing
  static constexpr Duration kConfirm = std::chrono::seconds(12);  // after the grace: KILL, collect, say Bye

  // `run_timeout`: how long the workers may run; nothing: for ever. `stop_grace`: of a UserStop; nothing: as of any
  // end.
  AttemptMachine(Duration start_timeout, Duration grace, TimePoint now,
                 std::optional<Duration> run_timeout = std::nullopt, std::optional<Duration> stop_grace = std::nullopt);

  [[nodiscard]] AttemptAction on(AttemptEvent event, TimePoint now);
  AttemptState state() const { return state_; }
  std::optional<TimePoint> deadline() const;
  // Of a job whose workers have run before: the limit of their time counts from then.
  void time_is_up_at(TimePoint at) { time_up_ = at; }
  // Before the workers are told to end something else takes its time.
  void take_longer(Duration more);
  // That the workers have to end, of the stop that has begun or would begin now.
  Duration grace() const { return grace_; }

 private:
  std::optional<TimePoint> deadline_of(AttemptState state, TimePoint now) const;
  bool counts_time() const;

  Duration grace_;  // of the end that comes
  Duration stop_grace_;
  std::optional<Duration> run_timeout_;
  AttemptState state_ = AttemptState::Connecting;
  std::optional<TimePoint> deadline_;
  std::optional<TimePoint> time_up_;  // once workers have run
};

}  // namespace sml::attempt
