// What an agent may be told, and when: its side of the conversation with its launcher, from the greeting to the last
// word. Pure.
//
// A pair that no row of the table names changes nothing, and is told to the launcher for those who debug: whoever asks
// for it is a launcher of ours that is wrong.
#pragma once
#include <cstdint>
#include <string_view>

namespace sml::supervise {

enum class AgentState : std::uint8_t {
  Awaiting,  // nobody has greeted: nobody is obeyed
  Idle,      // greeted; nothing has been asked for
  Prepared,  // an attempt knows what to start
  Running,   // it has been started; what comes after it is open
  Last,      // it runs, or is being ended; the agent leaves when it is over
  Cleared,   // it is over, but for what it serves to other hosts; another may follow
  Gone,      // the last word has been said
};
enum class AgentEvent : std::uint8_t {
  Hello,
  OtherVersion,  // a Hello that we do not speak
  Prepare,
  Start,
  Stop,
  EndLeft,
  Question,    // that an agent answers or notes at any time: Ping, Credit, Probe, Inspect, Vouch, AskJoined, ...
  ForWorkers,  // Signal, StdinData, StdinEof, Ruled, AskTraces, ...: for an attempt, or too late
  Leave,
  Over,          // the attempt: nothing of it is left, or has been named
  LauncherLost,  // its end of the pipe closed, or it was silent for too long
  ToldToEnd,     // by somebody else
};
enum class AgentAction : std::uint8_t {
  None,
  Unexpected,
  Greet,
  RefuseVersion,  // and that was all
  Prepare,
  Start,
  Stop,     // the workers
  Abandon,  // the launcher, and end the workers
  EndLeft,  // what an earlier agent has left
  Answer,
  Pass,           // on to the attempt
  Clear,          // say that the attempt is over
  ClearAndLeave,  // ... and Bye
  Leave,          // say Bye
};

std::string_view name(AgentState state);
std::string_view name(AgentEvent event);

class AgentMachine {
 public:
  [[nodiscard]] AgentAction on(AgentEvent event);
  AgentState state() const { return state_; }
  bool greeted() const { return state_ != AgentState::Awaiting; }
  bool gone() const { return state_ == AgentState::Gone; }

 private:
  AgentState state_ = AgentState::Awaiting;
};

}  // namespace sml::supervise
