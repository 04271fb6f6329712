// The state machine of --check. Pure: takes an event and the time, returns the action.
#pragma once
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "launcher/fleet/addresses.h"

namespace sml::run {

enum class CheckState : std::uint8_t {
  Asking,   // connects to the hosts, and waits for the description of each
  Probing,  // the other hosts probe the address of rank 0's host
  Leaving,  // the agents have been asked to leave
  Over,
};
enum class CheckEvent : std::uint8_t {
  AllAnswered,  // every host has described itself, or has failed
  AllProbed,    // every host that runs has finished its probe
  UserStop,
  AllEnded,  // no session is open
  Deadline,  // the present state has lasted too long
};
enum class CheckAction : std::uint8_t {
  None,
  Unexpected,  // the table has no such row: no action, and the state is unchanged
  Probe,       // count hosts that have not answered as failed; let the others probe the address of rank 0's host
  Dismiss,     // ask all agents to leave; abandon connections that are still being made
  Finish,      // stop the loop
};

class CheckMachine {
 public:
  // The time limits of the states; that of Asking is `start_timeout`.
  static constexpr Duration kProbing = fleet::kProbeTimeout + std::chrono::seconds(5);
  // An agent that is late leaves when its connection closes.
  static constexpr Duration kLeaving = std::chrono::seconds(5);

  CheckMachine(Duration start_timeout, TimePoint now) : deadline_(now + start_timeout) {}

  [[nodiscard]] CheckAction on(CheckEvent event, TimePoint now);
  CheckState state() const { return state_; }
  std::optional<TimePoint> deadline() const { return deadline_; }

 private:
  CheckState state_ = CheckState::Asking;
  std::optional<TimePoint> deadline_;
};

}  // namespace sml::run
