#include "launcher/fleet/host.h"

#include <variant>

#include "common/core/text.h"
#include "launcher/transport/session/wire_time.h"

namespace sml::fleet {

OnThisMachine place_of(const transport::AgentSession& session) {
  return session.contact().is_local ? OnThisMachine::Yes : OnThisMachine::No;
}

void Host::ping() {
  pinged = Clock::now();
  session->send(wire::Ping{transport::nanoseconds(pinged.time_since_epoch())});
}

void Host::note(const wire::ToLauncher& message) {
  if (const auto* m = std::get_if<wire::HelloAck>(&message)) {
    addresses = believable_addresses(m->addresses, place_of(*session));
    machine = m->machine;
    agent_pid = m->pid;
    traces = {.mark = session->mark(), .cgroup = m->cgroup, .scratch = m->scratch};
    clock.add(std::chrono::nanoseconds(m->now_ns), Clock::now());
    ping();
  } else if (const auto* pong = std::get_if<wire::Pong>(&message)) {
    const TimePoint asked{std::chrono::nanoseconds(pong->token)};
    clock.answered(asked, std::chrono::nanoseconds(pong->now_ns), Clock::now());
  }
}

HostAddresses known_addresses(const Host& host) {
  return {.here = place_of(*host.session),
          .local = host.session->contact().local_address,
          .peer = host.session->contact().peer_address,
          .own = host.addresses,
          .chosen = host.chosen_addresses};
}

std::vector<HostAddresses> known_addresses(std::span<const Host> hosts) {
  std::vector<HostAddresses> out;
  for (const Host& host : hosts) out.push_back(known_addresses(host));
  return out;
}

Error not_ready(Duration after, const std::string& step) {
  const bool silent = step == transport::kShellIsSilent;
  return Error(ErrorKind::Timeout, "not ready after " + format_duration(after) + " (" + step + ")")
      .with_hint((silent ? std::string(kSilentShellHint) + "; " : "") + "--start-timeout waits longer");
}

Error error_of(const wire::PreflightError& error) {
  const bool known = error.kind <= static_cast<std::uint8_t>(ErrorKind::Internal);
  return Error(known ? static_cast<ErrorKind>(error.kind) : ErrorKind::Internal, error.message).with_hint(error.hint);
}

}  // namespace sml::fleet
