// The state machine of a peer that calls the coordinator: when to retry, when to give up, when it is over. Pure: takes
// events and the time, returns the action.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/clock.h"
#include "launcher/dialin/messages.h"

namespace sml::dialin {

enum class DialState : std::uint8_t {
  Calling,   // connecting, or not yet accepted by the coordinator
  Resting,   // until the next attempt
  Waiting,   // the coordinator knows this host, and waits for others before it assigns a place
  Serving,   // accepted; the agent runs when the coordinator asks for it
  Leaving,   // the coordinator has sent the job's outcome; the agent, if it runs, gets time to end
  Deserted,  // the coordinator is gone; the agent ends its workers
  Over,
};
enum class DialEvent : std::uint8_t {
  Failed,   // no connection, or it ended before this host was accepted
  Refused,  // for good
  Proved,   // the coordinator has proved the key, and is to assign a place
  Welcomed,
  VerdictCame,
  HeadLost,    // in Serving: the connection has ended, or the coordinator is silent
  AgentEnded,  // or there is no agent
  Deadline,
};
enum class DialAction : std::uint8_t {
  None,
  Unexpected,  // no row for this event in this state: nothing is done, and the state is unchanged
  Rest,        // wait until deadline(), then Call
  Call,
  GiveUp,    // the last failure is the reason
  EndAgent,  // close its input; AgentEnded or Deadline follows
  Leave,
};

std::string_view name(DialState state);
std::string_view name(DialEvent event);

// Whether a retry may succeed: the coordinator may still be that of an earlier attempt, or may not know this host's
// address yet.
bool may_change(const Refused& refused, std::uint32_t own_attempt);

class DialMachine {
 public:
  static constexpr Duration kFirstRest = std::chrono::milliseconds(10);
  static constexpr Duration kLongestRest = std::chrono::seconds(1);
  // The wait for the answer of a coordinator that waits for others.
  static constexpr Duration kLinger = std::chrono::seconds(10);
  static constexpr Duration kConfirm = std::chrono::seconds(12);  // after the grace: SIGKILL, reaping

  // `patience`: the time that the coordinator may take to accept this host. `grace`: the time that workers have to end
  // when the coordinator is gone.
  DialMachine(Duration patience, Duration grace, TimePoint now);

  [[nodiscard]] DialAction on(DialEvent event, TimePoint now);
  // A stop is to be sent to the coordinator: gives up at `until` at the latest, and ends a pause between attempts at
  // once.
  void hurry(TimePoint until, TimePoint now);
  DialState state() const { return state_; }
  // When to send the event Deadline; nullopt while it waits for the coordinator, whose heartbeat CoordinatorConnection
  // checks.
  std::optional<TimePoint> deadline() const { return deadline_; }

 private:
  DialAction rest(TimePoint now);

  Duration grace_;
  TimePoint give_up_at_;
  Duration rest_ = kFirstRest;
  DialState state_ = DialState::Calling;
  std::optional<TimePoint> deadline_;
};

}  // namespace sml::dialin
