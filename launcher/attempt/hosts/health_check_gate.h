// Asks the agents whether workers can start on their hosts, and records which hosts are healthy. Hosts are checked
// before every attempt but the first; before the first only with --health-check.
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
  static constexpr Duration kCommandLimit = std::chrono::seconds(10);      // for the command
  static constexpr Duration kAcceleratorLimit = std::chrono::seconds(50);  // for accelerators to become free

  // `command`: that of --health-check; empty: none. `attempt` counts from 0. `start_timeout` shortens the limits, so
  // that the replies come before it has passed; this object does not watch it.
  HealthCheckGate(std::string command, std::uint32_t attempt, Duration start_timeout);

  // Call when the host's agent runs and no workers do: asks it once, if health checks are wanted.
  void ask(fleet::Host& host);
  // Whether the host is healthy, or no health checks are wanted.
  bool passed(const fleet::Host& host) const { return !asks_ || well_.contains(host.id); }
  // Takes a host's reply. nullopt: it answers another request, and does not count. Error (Spawn): why the host cannot
  // have workers.
  std::optional<Result<void>> note(const fleet::Host& host, const wire::Health& m);

 private:
  wire::AskHealth question_;
  bool asks_;  // health checks are wanted
  std::set<HostId> asked_;
  std::set<HostId> well_;  // healthy hosts
};

}  // namespace sml::attempt
