// The whole course of sml-run with the hosts of a job. Pure: told what happened, answers what to do.
#pragma once
#include <cstdint>
#include <string_view>

namespace sml::run {

enum class RunState : std::uint8_t {
  Gathering,   // hosts come, and are made ready
  Attempting,  // the workers have been told to start
  Clearing,    // nothing of the attempt is left; whether another follows is decided, or the agents leave
  Resting,     // another follows, in a while
  Regrouping,  // several of the hosts are one machine: the job is planned anew
  Leaving,     // all has happened; our reader has not taken all of it
  Over,
};
enum class RunEvent : std::uint8_t {
  WorkersStart,
  AttemptCleared,  // nothing of it is left, and its agents wait
  OneMachine,      // ... for that reason, before its workers
  Replanned,
  Again,           // another attempt is to follow
  Rested,          // it is time for it
  AttemptOver,     // the workers have ended, or were not started, and all hosts have said so
  AttemptGivenUp,  // ... or some have not
  ReaderDone,      // it has taken everything, or takes nothing any more
  UserStop,        // a stop signal, when nothing is left to stop but the wait for the reader
};
enum class RunAction : std::uint8_t {
  None,
  Unexpected,  // there is no such row: nothing is done, and nothing has changed
  Decide,
  Rest,
  Replan,
  Begin,      // the next attempt
  BeginAnew,  // the first, by the new plan
  AwaitReader,
  Finish,  // whatever is waited for
};

std::string_view name(RunState state);
std::string_view name(RunEvent event);

class RunMachine {
 public:
  [[nodiscard]] RunAction on(RunEvent event);
  RunState state() const { return state_; }

 private:
  RunState state_ = RunState::Gathering;
};

}  // namespace sml::run
