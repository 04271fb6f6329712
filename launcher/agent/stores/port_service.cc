#include "launcher/agent/stores/port_service.h"

#include <utility>

namespace sml::agent {

Result<void> PortService::check(wire::Prepared& answer) {
  Result<RendezvousPort> port = network_.reserve_port(reach_);
  if (!port) return port.error();
  port_ = std::move(*port);
  port_.stop_listening();
  answer.services.push_back({wire::ServiceKind::WorkerPort, port_.port()});
  return {};
}

}  // namespace sml::agent
