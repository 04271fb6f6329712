// One worker as its agent sees it, from the plan to the last byte of its output. Pure: takes events, returns what to
// do.
//
// A worker that has exited is not done yet. It is done when it has been reaped and its output has ended, or when the
// agent has given up on output that another process still holds open (DrainClock).
#pragma once
#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace sml::agent {

enum class WorkerState : std::uint8_t {
  Planned,
  Running,
  RunningSilent,   // has closed its output
  Stopping,        // has been asked to end
  StoppingSilent,  // the same, and its output is closed
  Draining,        // reaped; its output is still open
  Done,
};
enum class WorkerEvent : std::uint8_t {
  Spawned,
  SpawnFailed,
  StopAsked,
  Reaped,
  OutputEnded,  // no process holds its output open any more
  DrainOver     // DrainClock::deadline() has come
};
enum class WorkerAction : std::uint8_t {
  None,
  Unexpected,            // there is no row: nothing has changed
  ReportExit,            // report to the launcher how it ended
  ReportExitAndDrained,  // the same, and report that no output follows
  ReportDrained,         // report that no output follows
  AbandonOutput,         // close the agent's ends of its pipes; report that no output follows
};

class WorkerMachine {
 public:
  [[nodiscard]] WorkerAction on(WorkerEvent event);
  WorkerState state() const { return state_; }
  bool alive() const;  // spawned and not yet reaped
  bool done() const { return state_ == WorkerState::Done; }
  // True if it was asked to stop while it was alive.
  bool asked_to_stop() const { return asked_to_stop_; }

 private:
  WorkerState state_ = WorkerState::Planned;
  bool asked_to_stop_ = false;
};

// Decides when to give up on the output of a worker that has ended, if other processes keep it open: kQuiet after the
// last byte, or kCap after the worker's own end, whichever comes first.
//
// While the agent may not read (no credit), the time towards kQuiet stops. The time towards kCap stops only until all
// that the worker itself can have written has been read: none of that is lost, and a process that goes on writing
// cannot hold the job for longer.
class DrainClock {
 public:
  static constexpr Duration kQuiet = std::chrono::milliseconds(500);
  static constexpr Duration kCap = std::chrono::seconds(10);

  void begin(TimePoint now);      // the worker has ended
  void own_read(TimePoint now);   // all that the worker wrote has been read; the rest is other processes' output
  void on_output(TimePoint now);  // some output came
  void pause(TimePoint now);      // the agent stops reading
  void resume(TimePoint now);     // the agent reads again
  // The time to give up; nullopt before begin(), or while a pause holds it back.
  std::optional<TimePoint> deadline() const;

 private:
  std::optional<TimePoint> quiet_from_;  // the last byte, or begin(), moved by the length of later pauses
  TimePoint cap_from_;
  std::optional<TimePoint> paused_at_;  // nullopt: the agent reads
  bool own_read_ = false;
};

}  // namespace sml::agent
