#include "launcher/agent/port_service.h"

namespace sml::agent {

// All or none.
Result<void> PortService::check(wire::Prepared& answer) {
  for (std::uint32_t i = 0; i < count_; ++i) {
    Result<RendezvousPort> port = RendezvousPort::reserve(Reach::Network);
    if (!port) return port.error();
    port->stop_listening();
    ports_.push_back(std::move(*port));
  }
  for (const RendezvousPort& port : ports_) answer.ports.push_back(port.port());
  return {};
}

}  // namespace sml::agent
