// The pure state machine of one attempt: takes an event and its time, and returns what to do. It decides when the
// workers start, when they are stopped, and when the attempt is over.
#pragma once
#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace sml::attempt {

enum class AttemptState : std::uint8_t {
  Connecting,  // agents are being started, and prepare
  Failing,     // a host has failed; the others have kGather to report failures, too, so that one message names all
  Probing,     // the other hosts try the address of rank 0's host
  Running,     // the workers run
  Stopping,    // a failure, the user or a deadline ended it; agents end their workers
  Cleared,     // no worker process is left; the agents wait for another attempt or for their release
  Leaving,     // the agents are being released
  Finished,    // the attempt is over; nothing that comes now counts
};
enum class AttemptEvent : std::uint8_t {
  AllReady,    // every host can start its workers
  AllSettled,  // every host is ready or has failed
  OneMachine,  // every host is ready, and some are one machine under several names
  HostFailed,  // a host could not be reached or prepared, or was lost
  AllProbed,   // an address that all hosts reach has been found
  WorkerFailed,
  UserStop,     // the user's first request to stop
  UserInsists,  // a further request, which cuts the grace period short (stop_rule.h)
  OutputGone,   // the reader of the launcher's output is gone
  LogFailed,    // required output cannot be kept
  NoProgress,   // ranks do not print what --watch waits for, or print nothing
  RanksAlone,   // ranks use MPI and run alone in a job that needs them together
  Regroup,      // other hosts are to have workers
  AllCleared,   // all processes of the job have ended on every connected host; the agents stay
  NoMore,       // no further attempt: the agents need not stay
  AllEnded,     // no agent session is open
  Deadline,     // the time of deadline() has come
  TimeUp,       // made by on() from a Deadline: --timeout has passed while no worker of this attempt runs
};
enum class AttemptAction : std::uint8_t {
  None,
  Unexpected,    // the event means nothing in this state: no action, no state change
  Probe,         // let the other hosts try the address of rank 0's host
  StartAll,      // start the workers
  StopAll,       // SIGTERM (or the user's signal), grace, SIGKILL; hosts that are not ready are released at once
  GiveTime,      // the user stops what is stopping, and his grace is the longer one: the agents get it, too
  KillAll,       // SIGKILL at once: the grace period is over
  TellCleared,   // call AttemptOwner::attempt_cleared()
  Finish,        // call AttemptOwner::attempt_over(), the last call
  TimeOutStart,  // StopAll, and blame the hosts that are not ready
  TimeOutRun,    // StopAll, after showing the user where the workers are; --timeout has passed
  TimeOutRest,   // StopAll; --timeout has passed while no worker ran
  GiveUp,        // name the hosts that have not confirmed the end, then Finish
};

class AttemptMachine {
 public:
  static constexpr Duration kGather = std::chrono::seconds(2);  // time in Failing
  // time after the grace period for agents to kill and reap workers and to send Bye
  static constexpr Duration kConfirm = std::chrono::seconds(12);

  // `run_timeout`: how long the workers may run; nullopt: no limit. `stop_grace`: the grace period of a UserStop;
  // nullopt: `grace`, as for any other stop.
  AttemptMachine(Duration start_timeout, Duration grace, TimePoint now,
                 std::optional<Duration> run_timeout = std::nullopt, std::optional<Duration> stop_grace = std::nullopt);

  // Changes the state, and returns the action that the caller must perform.
  [[nodiscard]] AttemptAction on(AttemptEvent event, TimePoint now);
  AttemptState state() const { return state_; }
  // Whether the workers run and are not being ended.
  bool runs() const { return state_ == AttemptState::Running; }
  std::optional<TimePoint> deadline() const;  // when to pass Deadline to on(); nullopt: never
  // Call if workers ran in an earlier attempt: the time limit of the job (--timeout), which counts from that start,
  // ends at `at`.
  void time_is_up_at(TimePoint at) { time_up_ = at; }
  // Moves the deadline by `more`: something else takes this time before the workers are asked to end. Negative: it took
  // less time than an earlier call had allowed for.
  void take_longer(Duration more);
  // The grace period of the stop that has begun, or that would begin now. A UserStop during a stop makes it the longer
  // one of the two, counted from where the stop began.
  Duration grace() const { return grace_; }

 private:
  std::optional<TimePoint> deadline_of(AttemptState state, TimePoint now) const;
  bool counts_time() const;  // whether TimeUp may come in this state

  Duration grace_;  // grace period of the next stop
  Duration stop_grace_;
  std::optional<Duration> run_timeout_;
  AttemptState state_ = AttemptState::Connecting;
  std::optional<TimePoint> deadline_;
  std::optional<TimePoint> time_up_;  // the end of --timeout; nullopt: no workers have run, or no limit
};

}  // namespace sml::attempt
