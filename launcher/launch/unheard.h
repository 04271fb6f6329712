// How an agent that does not hear its launcher any more ends its workers. Pure.
#pragma once
#include "common/core/clock.h"

namespace sml::launch {

struct Unheard {
  Duration silence;  // after which it asks them to end
  Duration grace;    // after which it kills them
};

// In a job that ends with a host that is lost: it waits as long as the launcher does.
inline Unheard unheard_at_the_end(Duration heartbeat_timeout, Duration grace) { return {heartbeat_timeout, grace}; }

// In a job that goes on without the host: no later than `heartbeat_timeout` after the launcher's last word was sent
// they have ended, as others then take their places. A part of that time is left for the way and for late timers.
Unheard unheard_in_time(Duration heartbeat_timeout, Duration grace);

}  // namespace sml::launch
