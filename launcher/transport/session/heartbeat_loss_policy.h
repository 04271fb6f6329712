// When an agent that receives nothing from its launcher ends its workers. Pure.
#pragma once
#include "common/core/clock.h"

namespace sml::transport {

struct HeartbeatLossPolicy {
  Duration silence;  // time without a message, after which the agent asks its workers to end
  Duration grace;    // time from then on, after which it kills them
};

// For a job that ends when a host is lost: the agent waits as long as the launcher does.
inline HeartbeatLossPolicy policy_until_job_end(Duration heartbeat_timeout, Duration grace) {
  return {heartbeat_timeout, grace};
}

// For a job that goes on without the host: its workers have ended at most `heartbeat_timeout` after the launcher sent
// its last message, because other workers then take their places. `grace` is shortened, and part of the time is
// reserved for transmission and late timers.
HeartbeatLossPolicy policy_before_replacement(Duration heartbeat_timeout, Duration grace);

}  // namespace sml::transport
