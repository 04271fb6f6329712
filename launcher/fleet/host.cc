#include "launcher/fleet/host.h"

#include "common/core/text.h"

namespace sml::fleet {

OnThisMachine place_of(const launch::AgentSession& session) {
  return session.is_local() ? OnThisMachine::Yes : OnThisMachine::No;
}

std::vector<HostAddresses> known_addresses(std::span<const Host> hosts) {
  std::vector<HostAddresses> out;
  for (const Host& host : hosts) {
    out.push_back({.here = place_of(*host.session),
                   .local = host.session->local_address(),
                   .peer = host.session->peer_address(),
                   .own = host.addresses,
                   .chosen = host.chosen_addresses});
  }
  return out;
}

Error not_ready(Duration after, const std::string& step) {
  return Error(ErrorKind::Timeout, "not ready after " + format_duration(after) + " (" + step + ")")
      .with_hint("--start-timeout waits longer");
}

Error error_of(const wire::Obstacle& obstacle) {
  const bool known = obstacle.kind <= static_cast<std::uint8_t>(ErrorKind::Internal);
  return Error(known ? static_cast<ErrorKind>(obstacle.kind) : ErrorKind::Internal, obstacle.message)
      .with_hint(obstacle.hint);
}

}  // namespace sml::fleet
