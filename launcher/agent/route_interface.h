// By which interface of this host an address is reached.
#pragma once
#include <string>

#include "common/plan/worker_env.h"

namespace sml::agent {

// The interface that has the address itself, or from which the kernel would send to it; empty when there is none, or
// only loopback. Sends nothing.
std::string interface_towards(const std::string& address);

// GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME and HOROVOD_GLOO_IFACE with that interface; empty when there is none.
plan::Environment interface_variables(const std::string& address);

}  // namespace sml::agent
