// The hosts that have reported that workers can start there. All are asked before each attempt but the first, and
// before the first with --health-check.
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

class HealthCheckGate {
 public:
  static constexpr Duration kCommandLimit = std::chrono::seconds(10);
  static constexpr Duration kAcceleratorLimit = std::chrono::seconds(50);

  // `command`: that of --health-check; empty: none. `attempt` counts from 0. All must reply within `start_timeout`.
  HealthCheckGate(std::string command, std::uint32_t attempt, Duration start_timeout);

  // Call when the host's agent runs and no workers do: asks it once, if health checks are wanted.
  void ask(fleet::Host& host);
  // Whether the host need not be waited for.
  bool passed(const fleet::Host& host) const { return !asks_ || well_.contains(host.id); }
  // nullopt: the reply is to another request. Error (Spawn): why the host cannot have workers.
  std::optional<Result<void>> note(const fleet::Host& host, const wire::Health& m);

 private:
  wire::AskHealth question_;
  bool asks_;
  std::set<HostId> asked_;
  std::set<HostId> well_;
};

}  // namespace sml::attempt
