// One worker as its agent sees it, from the plan to the last byte of its output. Pure: told what happened, answers what
// to do.
//
// Exited is not done: a worker is done when it has been reaped and its output has ended too, or has been quiet for a
// while after the end because somebody else still holds the pipe.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/clock.h"

namespace sml::supervise {

enum class WorkerState : std::uint8_t {
  Planned,
  Running,
  RunningSilent,   // has closed its output
  Stopping,        // we have asked it to end
  StoppingSilent,  // ... and its output is closed
  Draining,        // reaped; its output is still open
  Done,
};
enum class WorkerEvent : std::uint8_t { Spawned, SpawnFailed, StopAsked, Reaped, OutputEnded, DrainOver };
enum class WorkerAction : std::uint8_t {
  None,
  Unexpected,            // there is no such row: nothing is done, and nothing has changed
  ReportExit,            // tell the launcher how it ended
  ReportExitAndDrained,  // ... and that no output follows
  ReportDrained,         // its output has ended after it did
  AbandonOutput,         // close our ends of its pipes; report drained
};

std::string_view name(WorkerState state);
std::string_view name(WorkerEvent event);

class WorkerMachine {
 public:
  [[nodiscard]] WorkerAction on(WorkerEvent event);
  WorkerState state() const { return state_; }
  bool alive() const;  // spawned and not yet reaped
  bool done() const { return state_ == WorkerState::Done; }
  bool asked_to_stop() const { return asked_to_stop_; }

 private:
  WorkerState state_ = WorkerState::Planned;
  bool asked_to_stop_ = false;
};

// When to give up on output that nobody ends: `quiet` after the last byte, `cap` after the worker's own end. Time in
// which we may not read (no credit) does not count: nothing that the worker wrote is lost.
class DrainClock {
 public:
  static constexpr Duration kQuiet = std::chrono::milliseconds(500);
  static constexpr Duration kCap = std::chrono::seconds(10);

  void begin(TimePoint now);   // the worker has ended
  void heard(TimePoint now);   // some output came
  void pause(TimePoint now);   // we stop reading
  void resume(TimePoint now);  // we read again
  std::optional<TimePoint> deadline() const;

 private:
  std::optional<TimePoint> quiet_from_;
  TimePoint cap_from_;
  std::optional<TimePoint> paused_at_;
};

}  // namespace sml::supervise
