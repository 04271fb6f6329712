#include "launcher/agent/core/network.h"

#include <utility>

#include "common/os/connections.h"
#include "launcher/agent/core/route_interface.h"

namespace sml::agent {

std::vector<std::string> SystemNetwork::own_addresses() { return agent::own_addresses(); }

Result<RendezvousPort> SystemNetwork::reserve_port(wire::ServiceReach reach) { return RendezvousPort::reserve(reach); }

void SystemNetwork::probe_addresses(boost::asio::io_context& loop, const std::vector<std::string>& addresses,
                                    std::uint16_t port, Duration timeout, Probed answer) {
  agent::probe_addresses(loop, addresses, port, timeout, std::move(answer));
}

std::set<pid_t> SystemNetwork::groups_connected_to(std::uint16_t port, const std::set<pid_t>& groups) {
  return os::groups_connected_to(port, groups);
}

std::string SystemNetwork::interface_towards(const std::string& address) { return agent::interface_towards(address); }

std::vector<InterfaceAddress> SystemNetwork::interface_addresses() { return agent::interface_addresses(); }

}  // namespace sml::agent
