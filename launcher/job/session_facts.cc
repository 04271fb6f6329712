#include "launcher/job/session_facts.h"

#include <algorithm>

#include "common/core/text.h"

namespace sml::job {

Duration ping_interval(Duration heartbeat_timeout) {
  constexpr Duration kLongest = std::chrono::seconds(5);
  return std::min(kLongest, heartbeat_timeout / 3);
}

Error not_ready(Duration after, const std::string& step) {
  return Error(ErrorKind::Timeout, "not ready after " + format_duration(after) + " (" + step + ")")
      .with_hint("--start-timeout waits longer");
}

Error unheard_for(Duration heartbeat_timeout) {
  return Error(ErrorKind::Lost, "lost: nothing heard for " + format_duration(heartbeat_timeout))
      .with_hint("--heartbeat-timeout waits longer");
}

OnThisMachine place_of(const launch::AgentSession& session) {
  return session.is_local() ? OnThisMachine::Yes : OnThisMachine::No;
}

HostAddresses connection_addresses(const launch::AgentSession& session) {
  return {.here = place_of(session),
          .local = session.local_address(),
          .peer = session.peer_address(),
          .own = {},
          .chosen = {}};
}

}  // namespace sml::job
