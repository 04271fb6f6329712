// The conversation with one host's agent: what may come next. Pure. Anything else means that the far side is not an
// agent of ours, or a broken one, and ends the session.
#pragma once
#include <cstdint>
#include <string_view>

namespace sml::launch {

enum class SessionState : std::uint8_t {
  Starting,   // the transport is being made
  Greeting,   // bytes flow; the agent's first line has not come
  Preparing,  // the agent runs and has been told the plan
  Ready,      // it can start the workers
  Running,
  Cleared,  // nothing runs any more; another attempt may follow
  Leaving,  // it has said Bye
  Ended,
};
enum class SessionEvent : std::uint8_t {
  Opened,     // the transport
  NeedAgent,  // the far side wants the agent's bytes
  AgentRuns,
  HelloAck,
  Prepared,
  Probed,
  PrepareSent,  // again
  StartSent,
  WorkerNews,  // Started, Output, Exited, Drained, FenceData, RankFault
  InputTaken,  // StdinCredit
  Chatter,     // Pong, AgentLog, Joined, Inspected, AskVouch, Vouched, Relay, Trace, ...
  Cleared,
  Bye,
  Broken,  // the way to the host, before its agent spoke
  Closed,  // the transport has ended
};
enum class SessionAction : std::uint8_t {
  None,
  Refuse,  // not allowed now: a protocol error
  SendAgent,
  StartAgain,
  Introduce,  // Hello and Prepare
  TellReady,
  Deliver,   // to the owner
  TellEnd,   // ended as it should
  TellLost,  // ended otherwise
};

std::string_view name(SessionState state);
std::string_view name(SessionEvent event);

class SessionMachine {
 public:
  [[nodiscard]] SessionAction on(SessionEvent event);
  SessionState state() const { return state_; }
  // After something was refused or a deadline passed: nothing more is expected.
  void end() { state_ = SessionState::Ended; }

 private:
  SessionState state_ = SessionState::Starting;
};

}  // namespace sml::launch
