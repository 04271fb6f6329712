// The state machine of a peer that calls the coordinator: when to retry, when to give up, when the peer's part is over.
// Pure: takes events and the time, returns the action that the caller is to perform.
#pragma once
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "launcher/dialin/messages.h"

namespace sml::dialin {

enum class DialState : std::uint8_t {
  Calling,   // connecting, or not yet accepted by the coordinator
  Resting,   // between two attempts to connect
  Waiting,   // the coordinator knows this host, and waits for others before it assigns a place
  Serving,   // accepted; the agent runs when the coordinator asks for it
  Leaving,   // the coordinator has sent the job's outcome; the agent, if it runs, gets time to end
  Deserted,  // the coordinator is gone; the agent ends its workers
  Over,      // the peer can exit
};
enum class DialEvent : std::uint8_t {
  Failed,       // no connection, or it ended before this host was accepted
  Refused,      // the coordinator has refused this host, and may_change() is false; or a side has not proved the key
  Proved,       // the coordinator has proved the key, and is to assign a place (PlaceRule::ChosenByHead only)
  Welcomed,     // Welcome has come: the coordinator has accepted this host
  VerdictCame,  // JobEnd has come
  HeadLost,     // in Serving: the connection has ended, the coordinator is silent, or it has sent what it may not
  AgentEnded,   // the agent has ended, or there is none
  Deadline,     // deadline() has come
};
enum class DialAction : std::uint8_t {
  None,
  Unexpected,  // the table has no row for this event in this state: do nothing; the state is unchanged
  Rest,        // wait until deadline(); that event leads to Call
  Call,        // connect to the coordinator
  GiveUp,      // exit; the last failure is the reason
  EndAgent,    // close the agent's input; the event AgentEnded or Deadline is to follow
  Leave,       // exit
};

// Whether a retry after this refusal may succeed: the coordinator may still be that of an earlier attempt of the job,
// or its resolver may not know this host's address yet.
bool may_change(const Refused& refused, std::uint32_t own_attempt);

class DialMachine {
 public:
  static constexpr Duration kFirstRest = std::chrono::milliseconds(10);
  static constexpr Duration kLongestRest = std::chrono::seconds(1);
  // In Waiting: how much longer than the timeout to wait for the coordinator, which sends its own timeout as outcome.
  static constexpr Duration kLinger = std::chrono::seconds(10);
  static constexpr Duration kConfirm = std::chrono::seconds(12);  // after the grace: for SIGKILL, and to reap processes

  // `timeout`: the time that the coordinator may take to accept this host. `grace`: the time that workers have to end
  // when the coordinator is gone.
  DialMachine(Duration timeout, Duration grace, TimePoint now);

  [[nodiscard]] DialAction on(DialEvent event, TimePoint now);
  // A stop signal is to be sent to a coordinator that has not accepted this host yet: gives up at `until` at the
  // latest, and ends a pause between attempts at once. Call before Welcomed only.
  void hurry(TimePoint until, TimePoint now);
  DialState state() const { return state_; }
  // When to send the event Deadline. nullopt in Serving, where CoordinatorConnection checks the coordinator's
  // heartbeat, and in Over.
  std::optional<TimePoint> deadline() const { return deadline_; }

 private:
  DialAction rest(TimePoint now);

  Duration grace_;
  TimePoint give_up_at_;        // when the timeout ends
  Duration rest_ = kFirstRest;  // the next pause between attempts
  DialState state_ = DialState::Calling;
  std::optional<TimePoint> deadline_;
};

}  // namespace sml::dialin
