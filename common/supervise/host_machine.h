// All workers of one host as its agent sees them: how the end comes about. Pure: told what happened and when, answers
// what to do; deadlines are part of the state.
//
// Every ending takes the same way: signal and SIGCONT to every worker, SIGKILL after the grace, collect, then the same
// for whatever the workers left behind, then leave. Each step has an end of its own.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/clock.h"

namespace sml::supervise {

enum class HostState : std::uint8_t {
  Idle,  // nothing has been started
  Running,
  Stopping,      // asked to end; the grace runs
  Killing,       // SIGKILL sent
  Draining,      // all reaped; output of some is still open
  DrainKilling,  // ... and the grace is over: SIGKILL sent to whoever holds it
  Sweeping,      // workers done; what they left behind has been asked to end
  SweepKilling,  // ... and been sent SIGKILL
  Gone,          // nothing is left, or has been named; the agent leaves
};
enum class HostEvent : std::uint8_t {
  Start,
  Stop,          // the launcher asks (again): see stop()
  LauncherLost,  // its end of the pipe closed, or it was silent for too long
  AllReaped,     // no worker is alive; may be said again
  AllDone,       // ... and all output has ended, or nobody would take it; may be said again
  NothingLeft,   // no descendant is left
  Deadline,
};
enum class HostAction : std::uint8_t {
  None,
  Unexpected,  // there is no such row: nothing is done, and nothing has changed
  SpawnAll,
  SignalAll,   // stop_signal(), then SIGCONT, to every worker and orphan
  DropOutput,  // it is read on, for nobody
  SignalAllDropOutput,
  KillAll,     // SIGKILL to every worker and orphan
  SignalLeft,  // SIGTERM, SIGCONT to every orphan; NothingLeft at once if there is none
  Leave,       // say Bye, exit
};

std::string_view name(HostState state);
std::string_view name(HostEvent event);

class HostMachine {
 public:
  static constexpr Duration kReapLimit = std::chrono::seconds(5);   // after SIGKILL: what is left then is named
  static constexpr Duration kSweepGrace = std::chrono::seconds(2);  // for orphans, unless the job's grace is shorter

  // `default_grace` serves when the launcher is lost.
  explicit HostMachine(Duration default_grace) : grace_(default_grace) {}

  [[nodiscard]] HostAction start(TimePoint now) { return on(HostEvent::Start, now); }
  // By the launcher. The first call begins the grace; a later one can shorten what is left of it, never lengthen.
  [[nodiscard]] HostAction stop(int signo, Duration grace, TimePoint now);
  // Somebody has told the agent to end: SIGTERM and the default grace, until the launcher says another. Joins a stop
  // that is under way.
  [[nodiscard]] HostAction stop_by_itself(TimePoint now);
  [[nodiscard]] HostAction on(HostEvent event, TimePoint now);

  HostState state() const { return state_; }
  int stop_signal() const { return stop_signal_; }
  std::optional<TimePoint> deadline() const { return deadline_; }

 private:
  std::optional<TimePoint> deadline_of(HostState state, TimePoint now) const;

  HostState state_ = HostState::Idle;
  std::optional<TimePoint> deadline_;
  Duration grace_;
  int stop_signal_ = 15;
  bool by_itself_ = false;  // the launcher has not said how long the grace is
};

}  // namespace sml::supervise
