// A port that a worker listens on, kept free for it.
#pragma once
#include "launcher/agent/host_service.h"
#include "launcher/agent/rendezvous_port.h"

namespace sml::agent {

class PortService final : public HostService {
 public:
  explicit PortService(wire::ServiceReach reach) : reach_(reach) {}
  Result<void> check(wire::Prepared& answer) override;

 private:
  wire::ServiceReach reach_;
  RendezvousPort port_;
};

}  // namespace sml::agent
