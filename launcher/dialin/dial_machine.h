// A host that calls the head: when to try again, when to give up, when it is over. Pure: told what happened and when,
// answers what to do.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/clock.h"
#include "launcher/dialin/messages.h"

namespace sml::dialin {

enum class DialState : std::uint8_t {
  Calling,   // a connection is being made, or the head has yet to say that we may come in
  Resting,   // until the next try
  Waiting,   // the head knows us, and waits for others before it gives us a place
  Serving,   // the head knows us; our agent runs when it says so
  Leaving,   // the head has told the verdict; our agent, if it runs, gets a moment
  Deserted,  // the head has gone; our agent ends its workers
  Over,
};
enum class DialEvent : std::uint8_t {
  Failed,   // no connection, or it ended before we were let in
  Refused,  // and that is that
  Proved,   // the head has the key, and is to give us a place
  Welcomed,
  VerdictCame,
  HeadLost,    // while we serve: the connection has ended, or the head is silent
  AgentEnded,  // or there is none
  Deadline,
};
enum class DialAction : std::uint8_t {
  None,
  Unexpected,  // there is no such row: nothing is done, and nothing has changed
  Rest,        // until deadline(), then Call
  Call,
  GiveUp,    // the last failure says why
  EndAgent,  // its input ends; AgentEnded follows, or Deadline
  Leave,
};

std::string_view name(DialState state);
std::string_view name(DialEvent event);

// Whether another try may end otherwise: the head may be one of an earlier attempt, or not know our address yet.
bool may_change(const Refused& refused, std::uint32_t own_attempt);

class DialMachine {
 public:
  static constexpr Duration kFirstRest = std::chrono::milliseconds(10);
  static constexpr Duration kLongestRest = std::chrono::seconds(1);
  static constexpr Duration kLinger = std::chrono::seconds(10);   // for the word of a head that waits for others
  static constexpr Duration kConfirm = std::chrono::seconds(12);  // after the grace: KILL, collect

  // `patience`: how long the head may take to let us in. `grace`: of the workers when the head has gone.
  DialMachine(Duration patience, Duration grace, TimePoint now);

  [[nodiscard]] DialAction on(DialEvent event, TimePoint now);
  // There is something to tell the head, which is no longer waited for than until then.
  void hurry(TimePoint until, TimePoint now);
  DialState state() const { return state_; }
  // When to say Deadline; nothing: it waits for the head, whose silence somebody else watches.
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
