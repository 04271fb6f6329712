// Reserves one port of this host for a worker to listen on, and reports its number in Prepared. The service itself
// accepts no connection on it.
#pragma once
#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/rendezvous_port.h"

namespace sml::agent {

class PortService final : public HostService {
 public:
  PortService(const ServiceContext& context, wire::ServiceReach reach)
      : network_(context.system.network), reach_(reach) {}
  Result<void> check(wire::Prepared& answer) override;

 private:
  Network& network_;
  wire::ServiceReach reach_;
  RendezvousPort port_;
};

}  // namespace sml::agent
