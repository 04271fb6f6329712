// The network interfaces of this host, and by which of them an address is reached.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/core/interfaces.h"
#include "common/plan/environment/worker_env.h"

namespace sml::agent {

// The interface that has the address itself, or from which the kernel would send to it; empty if there is none, or only
// loopback. Sends nothing.
std::string interface_towards(const std::string& address);

// GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME and HOROVOD_GLOO_IFACE: the second names all of them, the others the first.
// There is one at least.
plan::Environment interface_variables(std::span<const std::string> names);

// The addresses of the interfaces that are up, IPv4 first, without link-local IPv6 addresses.
std::vector<InterfaceAddress> interface_addresses();

}  // namespace sml::agent
