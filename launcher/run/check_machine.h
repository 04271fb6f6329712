// The course of --check. Pure: told what happened and when, answers what to do.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/clock.h"
#include "launcher/fleet/addresses.h"

namespace sml::run {

enum class CheckState : std::uint8_t {
  Asking,   // hosts are connected to, and say what they are like
  Probing,  // the other hosts try the address of rank 0's host
  Leaving,  // the agents have been told to go
  Over,
};
enum class CheckEvent : std::uint8_t {
  AllAnswered,  // every host has said what it is like, or has failed
  AllProbed,    // every host that runs has tried
  UserStop,
  AllEnded,  // no session is open
  Deadline,
};
enum class CheckAction : std::uint8_t {
  None,
  Unexpected,  // there is no such row: nothing is done, and nothing has changed
  Probe,
  TimeOut,  // the hosts that have not answered have failed; then Probe
  Dismiss,  // all agents; hosts that are still being connected to are let go
  Finish,
};

std::string_view name(CheckState state);
std::string_view name(CheckEvent event);

class CheckMachine {
 public:
  static constexpr Duration kProbing = fleet::kProbeTimeout + std::chrono::seconds(5);
  static constexpr Duration kLeaving = std::chrono::seconds(5);  // whoever is late leaves when our end closes

  CheckMachine(Duration start_timeout, TimePoint now) : deadline_(now + start_timeout) {}

  [[nodiscard]] CheckAction on(CheckEvent event, TimePoint now);
  CheckState state() const { return state_; }
  std::optional<TimePoint> deadline() const { return deadline_; }

 private:
  CheckState state_ = CheckState::Asking;
  std::optional<TimePoint> deadline_;
};

}  // namespace sml::run
