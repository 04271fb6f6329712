// The network interfaces of this host, and the interface by which this host reaches an address.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/core/interfaces.h"
#include "common/plan/environment/worker_env.h"

namespace sml::agent {

// The name of the interface that has the address itself, or else of the one from which the kernel would send to it.
// Empty if there is none, if it is loopback, or if `address` is not numeric. Sends nothing.
std::string interface_towards(const std::string& address);

// The variables by which workers choose their interfaces: NCCL_SOCKET_IFNAME lists all `names`; GLOO_SOCKET_IFNAME and
// HOROVOD_GLOO_IFACE have the first. `names` must not be empty.
plan::Environment interface_variables(std::span<const std::string> names);

// The addresses of the interfaces that are up, loopback included: IPv4 first, without link-local IPv6 addresses.
std::vector<InterfaceAddress> interface_addresses();

}  // namespace sml::agent
