// Identifies this machine, or container.
#pragma once
#include <string>

namespace sml::os {

// The boot id, the network and PID namespaces, and the host name. Two processes that get the same text run on the same
// machine, with the same sockets and process ids visible to both. Empty if the system does not provide one of them. For
// comparison only.
std::string machine_identity();

}  // namespace sml::os
