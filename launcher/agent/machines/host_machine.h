// All workers of one host in one attempt, as their agent sees them: the steps in which they end. Pure: takes events and
// times, returns what to do; deadlines are part of the state.
//
// Workers that must end get the stop signal and SIGCONT, then SIGKILL after the grace, and are reaped. However they
// ended, the processes that they left behind (orphans) are ended in the same way before the attempt is over. No step
// lasts forever: it ends at its deadline here, or by the DrainClock of each worker.
#pragma once
#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace sml::agent {

enum class HostState : std::uint8_t {
  Idle,  // nothing has been started
  Running,
  Stopping,      // the workers have been asked to end; the grace runs
  Killing,       // SIGKILL sent
  Draining,      // all workers reaped; the output of some is still open
  DrainKilling,  // the same, and the grace is over: SIGKILL sent to the processes that hold the output open
  Sweeping,      // workers done; the processes that they left behind have been asked to end
  SweepKilling,  // the same, and SIGKILL has been sent
  Gone,          // the attempt is over: no process is left, or those left have been reported
};
enum class HostEvent : std::uint8_t {
  Start,
  Stop,          // requested by the launcher, perhaps again: see stop()
  LauncherLost,  // as AgentEvent::LauncherLost
  AllReaped,     // no worker is alive; may be repeated
  AllDone,       // also, all output has ended or is no longer awaited; may be repeated
  NothingLeft,   // no descendant is left
  Deadline,      // the time deadline() has come
};
enum class HostAction : std::uint8_t {
  None,
  Unexpected,  // there is no row: nothing has changed
  SpawnAll,
  SignalAll,   // stop_signal(), then SIGCONT, to every worker and orphan; with SignalTarget::Worker, to no orphan
  DropOutput,  // go on reading the output, but discard it
  SignalAllDropOutput,
  KillAll,     // SIGKILL to every worker and orphan
  SignalLeft,  // SIGTERM, SIGCONT to every orphan; if there is none, NothingLeft follows at once
  EndAttempt,  // the attempt is over; AgentMachine decides whether the agent ends
};

class HostMachine {
 public:
  static constexpr Duration kReapLimit = std::chrono::seconds(5);   // after SIGKILL; processes left then are reported
  static constexpr Duration kSweepGrace = std::chrono::seconds(2);  // for orphans, unless the job's grace is shorter

  // `default_grace` applies when the launcher is lost, and to stop_by_itself().
  explicit HostMachine(Duration default_grace) : grace_(default_grace) {}

  [[nodiscard]] HostAction start(TimePoint now) { return on(HostEvent::Start, now); }
  // Requested by the launcher. The first call starts the grace. A later one with a longer grace makes it that long from
  // where it began; any other can only shorten the rest of it.
  [[nodiscard]] HostAction stop(int signo, Duration grace, TimePoint now);
  // Requested by another process: SIGTERM and the default grace, until the launcher sends a grace of its own. Joins a
  // stop that is already in progress.
  [[nodiscard]] HostAction stop_by_itself(TimePoint now);
  [[nodiscard]] HostAction on(HostEvent event, TimePoint now);

  HostState state() const { return state_; }
  // The signal that asks workers to end: that of the launcher's first stop(); SIGTERM without one.
  int stop_signal() const { return stop_signal_; }
  // The time at which Deadline is due; nullopt: the current step has none.
  std::optional<TimePoint> deadline() const { return deadline_; }

 private:
  std::optional<TimePoint> deadline_of(HostState state, TimePoint now) const;
  void take_grace(Duration grace, TimePoint now);

  HostState state_ = HostState::Idle;
  std::optional<TimePoint> deadline_;
  Duration grace_;  // the longest that the launcher has given in this stop
  int stop_signal_ = 15;
  bool by_itself_ = false;  // stopped by stop_by_itself(), and the launcher has not sent a grace yet
};

}  // namespace sml::agent
