// The state machine of sml-run. Pure: takes an event, returns the action.
#pragma once
#include <cstdint>

namespace sml::run {

enum class RunState : std::uint8_t {
  Gathering,   // hosts connect and are prepared
  Attempting,  // the workers' start has begun
  Clearing,    // no process of the attempt is left; sml-run decides whether another follows, or the agents leave
  Resting,     // the wait before the next attempt
  Regrouping,  // several hosts are one machine: the job is planned again
  Leaving,     // the job has ended, but the reader of the output has not taken all of it
  Over,
};
enum class RunEvent : std::uint8_t {
  WorkersStart,    // all hosts are ready, and the workers are about to start
  AttemptCleared,  // no process of the attempt is left, and its agents wait
  OneMachine,      // in place of Again: no worker was started, since several hosts are one machine
  Replanned,       // there is a new plan for these hosts
  Again,           // another attempt is to follow
  Rested,          // the wait is over
  AttemptOver,     // the workers have ended, or were not started, and all hosts have confirmed that
  AttemptGivenUp,  // as AttemptOver, but some hosts have not confirmed it
  ReaderDone,      // the reader has taken all output, or accepts no more
  UserStop,        // a stop signal while only the wait for the reader is left to stop
};
enum class RunAction : std::uint8_t {
  None,
  Unexpected,   // the table has no such row: no action, and the state is unchanged
  Decide,       // whether another attempt follows: report Again or OneMachine, or let the agents leave
  Rest,         // wait, then report Rested
  Replan,       // make a new plan, then report Replanned
  Begin,        // begin the next attempt
  BeginAnew,    // begin the first attempt once more, with the new plan
  AwaitReader,  // wait until the reader has taken all output, then report ReaderDone
  Finish,       // stop the loop, without waiting any longer
};

class RunMachine {
 public:
  [[nodiscard]] RunAction on(RunEvent event);
  RunState state() const { return state_; }

 private:
  RunState state_ = RunState::Gathering;
};

}  // namespace sml::run
