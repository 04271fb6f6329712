// The agent's side of the session with its launcher: which messages it accepts in which state, from the greeting to the
// end. Pure.
//
// An event for which the table has no row in the current state changes nothing (Unexpected). The agent reports it to
// the launcher, for debugging: it is a bug of the launcher.
#pragma once
#include <cstdint>

namespace sml::agent {

enum class AgentState : std::uint8_t {
  Awaiting,  // no Hello yet: all other messages are ignored
  Idle,      // greeted; nothing has been requested
  Prepared,  // an attempt is prepared or being prepared, but not started
  Running,   // the attempt has been started, or ended before its start; it may be ending; another may follow
  Last,      // the same, but none follows: when the attempt is over, the agent sends Bye and ends
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
  Question,    // a message that is answered or recorded at any time: Ping, Credit, Probe, Inspect, CheckPeerOwnership,
               // AskJoined, ...
  ForWorkers,  // a message for the workers or services of the attempt: Signal, StdinData, StdinEof, PeerVerdicts, ...
  Leave,       // request to end the agent, after the attempt if one runs
  Over,        // the attempt is over: none of its processes is left, or those left have been reported
  LauncherLost,  // the launcher's end of the pipe was closed, or the launcher sent nothing for too long
  ToldToEnd,     // a signal or another request that does not come from the launcher
};
enum class AgentAction : std::uint8_t {
  None,
  Unexpected,  // report the event; the state is unchanged
  Greet,
  RefuseVersion,  // and end the session
  Prepare,
  Start,
  Stop,     // end the workers
  Abandon,  // give the launcher up, and end the workers
  EndLeft,  // end what an earlier agent has left behind
  Answer,
  Pass,           // forward to the attempt
  Clear,          // report that the attempt is over
  ClearAndLeave,  // the same, then send Bye
  Leave,          // send Bye
};

class AgentMachine {
 public:
  // Returns the action that the caller must carry out; None for every event once gone().
  [[nodiscard]] AgentAction on(AgentEvent event);
  AgentState state() const { return state_; }
  bool greeted() const { return state_ != AgentState::Awaiting; }
  bool gone() const { return state_ == AgentState::Gone; }

 private:
  AgentState state_ = AgentState::Awaiting;
};

}  // namespace sml::agent
