// Identifies this machine, or container.
#pragma once
#include <string>

namespace sml::os {

// The boot id, the network and PID namespaces, and the host name: processes with equal values are on one machine and
// see the same of it. Empty if the system does not provide one of them. For comparison only.
std::string machine_identity();

}  // namespace sml::os
