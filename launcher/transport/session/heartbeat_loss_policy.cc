#include "launcher/transport/session/heartbeat_loss_policy.h"

#include <algorithm>

namespace sml::transport {

HeartbeatLossPolicy policy_before_replacement(Duration heartbeat_timeout, Duration grace) {
  using namespace std::chrono_literals;
  const Duration shortened = std::min({grace, heartbeat_timeout / 10, Duration(1s)});
  const Duration late = std::clamp<Duration>(heartbeat_timeout / 20, 250ms, 500ms);
  return {std::max(heartbeat_timeout - shortened - late, heartbeat_timeout / 2), shortened};
}

}  // namespace sml::transport
