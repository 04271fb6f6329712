// The state machine of the session with one host's agent: which event may come next. Pure. Any other event means that
// the far side is not a genuine agent, or a broken one, and ends the session.
#pragma once
#include <cstdint>
#include <string_view>

namespace sml::transport {

enum class SessionState : std::uint8_t {
  Starting,   // the transport is being made
  Greeting,   // bytes flow; the agent's first line has not come
  Preparing,  // the agent runs and has been sent its Prepare
  Ready,      // it can start the workers
  Running,
  Cleared,  // nothing runs any more; another attempt may follow
  Leaving,  // it has sent Bye
  Ended,
};
enum class SessionEvent : std::uint8_t {
  Opened,     // the transport is open
  NeedAgent,  // the far side requests the agent's bytes
  AgentRuns,
  HelloAck,
  Prepared,
  Probed,
  PrepareSent,  // for another attempt
  StartSent,
  WorkerNews,  // Started, Output, Exited, Drained, FenceData, RankFault and the like
  InputTaken,  // StdinCredit
  Added,       // the request may have crossed Cleared
  AnyTime,     // Pong, AgentLog, Joined, Inspected, AskPeerOwnership, PeerVerdictsOfHost, Relay, Trace, ...
  Cleared,
  Bye,
  Broken,  // the connection broke before the agent's first line
  Closed,  // the transport has ended
};
enum class SessionAction : std::uint8_t {
  None,
  Refuse,  // not allowed now: a protocol error
  SendAgent,
  StartAgain,
  Introduce,  // send Hello and Prepare
  TellReady,
  Deliver,   // to the owner
  TellEnd,   // ended as expected
  TellLost,  // ended otherwise
};

std::string_view name(SessionState state);
std::string_view name(SessionEvent event);

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
