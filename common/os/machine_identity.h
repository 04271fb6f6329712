// What tells this machine, or container, from all others.
#pragma once
#include <string>

namespace sml::os {

// The boot, the namespaces for networks and processes, and the host name: processes that see the same are on one
// machine and see the same of it. Empty when the system does not tell. For comparison only.
std::string machine_identity();

}  // namespace sml::os
