// Ports that workers listen on, kept free for them.
#pragma once
#include <cstdint>
#include <vector>

#include "launcher/agent/host_service.h"
#include "launcher/agent/rendezvous_port.h"

namespace sml::agent {

class PortService final : public HostService {
 public:
  explicit PortService(std::uint32_t count) : count_(count) {}
  Result<void> check(wire::Prepared& answer) override;

 private:
  std::uint32_t count_;
  std::vector<RendezvousPort> ports_;
};

}  // namespace sml::agent
