// Which hosts have said that workers can be started there: all are asked before each attempt but the first, and before
// the first where --health-check is given.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/wire/messages.h"
#include "launcher/fleet/host.h"

namespace sml::attempt {

class HealthGate {
 public:
  static constexpr Duration kCommandLimit = std::chrono::seconds(10);
  static constexpr Duration kAcceleratorLimit = std::chrono::seconds(50);

  // `command`: of --health-check; empty: none. `attempt` counts from 0. Within `start_timeout` all must have answered.
  HealthGate(std::string command, std::uint32_t attempt, Duration start_timeout);

  // Its agent runs, and no workers do: it is asked, once, where that is wanted.
  void ask(fleet::Host& host);
  // It need not be waited for.
  bool passed(const fleet::Host& host) const { return !asks_ || well_.contains(host.id); }
  // Nothing: it is an answer to somebody else. Error (Spawn): why it cannot have workers.
  std::optional<Result<void>> note(const fleet::Host& host, const wire::Health& m);

 private:
  wire::AskHealth question_;
  bool asks_;
  std::set<HostId> asked_;
  std::set<HostId> well_;
};

}  // namespace sml::attempt
