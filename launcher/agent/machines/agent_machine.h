// The agent's side of the session with its launcher: which messages it accepts in which state, from the greeting to the
// end. Pure.
//
// A pair without a row in the table changes nothing and is reported to the launcher, for debugging: it is a bug of the
// launcher.
#pragma once
#include <cstdint>
#include <string_view>

namespace sml::agent {

enum class AgentState : std::uint8_t {
  Awaiting,  // no Hello yet: all other messages are ignored
  Idle,      // greeted; nothing has been requested
  Prepared,  // an attempt is prepared, but not started
  Running,   // the attempt has been started; what follows it is open
  Last,      // the attempt runs, or is being ended; the agent leaves when it is over
  Cleared,   // the attempt is over, except for its services to other hosts; another may follow
  Gone,      // the session is over
};
enum class AgentEvent : std::uint8_t {
  Hello,
  OtherVersion,  // a Hello of an unsupported protocol version
  Prepare,
  Start,
  Stop,
  EndLeft,
  Question,    // is answered or recorded at any time: Ping, Credit, Probe, Inspect, CheckPeerOwnership, AskJoined, ...
  ForWorkers,  // Signal, StdinData, StdinEof, PeerVerdicts, AskTraces, ...: for an attempt, or too late
  Leave,
  Over,          // of the attempt: none of its processes is left, or those left have been reported
  LauncherLost,  // its end of the pipe was closed, or it sent nothing for too long
  ToldToEnd,     // a signal or another request that does not come from the launcher
};
enum class AgentAction : std::uint8_t {
  None,
  Unexpected,
  Greet,
  RefuseVersion,  // and end the session
  Prepare,
  Start,
  Stop,     // end the workers
  Abandon,  // give up the launcher, and end the workers
  EndLeft,  // end what an earlier agent has left behind
  Answer,
  Pass,           // forward to the attempt
  Clear,          // report that the attempt is over
  ClearAndLeave,  // the same, then send Bye
  Leave,          // send Bye
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

}  // namespace sml::agent
