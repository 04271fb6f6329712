// What a job and a check read from a host's session alike, and how they say it.
#pragma once
#include <string>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/job/rendezvous.h"
#include "launcher/launch/agent_session.h"

namespace sml::job {

// Between two pings: often enough that a host is not taken for lost.
Duration ping_interval(Duration heartbeat_timeout);

Error not_ready(Duration after, const std::string& step);
Error unheard_for(Duration heartbeat_timeout);

OnThisMachine place_of(const launch::AgentSession& session);

// Those that the connection shows; `own` and `chosen` stay empty.
HostAddresses connection_addresses(const launch::AgentSession& session);

}  // namespace sml::job
