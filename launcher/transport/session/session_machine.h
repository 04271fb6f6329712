// The state machine of the session with one host's agent: which event may come next, and how the session reacts. Pure.
// Any other event means that the far side is not a genuine agent, or a broken one, and ends the session.
#pragma once
#include <cstdint>

namespace sml::transport {

enum class SessionState : std::uint8_t {
  Starting,   // the transport is being made
  Greeting,   // the transport is open; the agent's first line has not come
  Preparing,  // the agent runs and has been sent its Prepare
  Ready,      // it has sent Prepared
  Running,    // it has been sent Start
  Cleared,    // it has sent Cleared: nothing runs any more; another attempt may follow
  Leaving,    // it has sent Bye
  Ended,
};
// Events named after a message: it has arrived.
enum class SessionEvent : std::uint8_t {
  Opened,     // the transport is open
  NeedAgent,  // the far side requests the agent's bytes
  AgentRuns,  // the agent's first line
  Hello,      // HelloAck
  Prepared,
  Probed,
  PrepareSent,  // for another attempt
  StartSent,
  WorkerNews,  // Started, Output, Exited, Drained, FenceData, RankFault and the like
  InputTaken,  // StdinCredit
  Added,       // may follow Cleared, as its request may have crossed that
  AnyTime,     // Pong, AgentLog, Joined, Inspected, AskPeerOwnership, PeerVerdictsOfHost, Relay, Trace, ...
  Cleared,
  Bye,
  Broken,  // the connection broke before the agent's first line
  Closed,  // the transport has ended
};
enum class SessionAction : std::uint8_t {
  None,
  Refuse,      // the event is not allowed now: a protocol error
  SendAgent,   // send the agent's bytes
  StartAgain,  // make another transport
  Introduce,   // send Hello and Prepare
  TellReady,   // call session_ready
  Deliver,     // pass the message to the owner
  TellEnd,     // report the expected end
  TellLost,    // report any other end
};

class SessionMachine {
 public:
  [[nodiscard]] SessionAction on(SessionEvent event);
  SessionState state() const { return state_; }
  // Call after a refused event or a passed deadline: ignores all further events.
  void end() { state_ = SessionState::Ended; }

 private:
  SessionState state_ = SessionState::Starting;
};

}  // namespace sml::transport
