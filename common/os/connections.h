// Who holds a TCP connection to a port, by the kernel's own tables. Linux.
#pragma once
#include <cstdint>
#include <set>
#include <string_view>

#include <sys/types.h>

namespace sml::os {

// The sockets (inodes) in the text of /proc/net/tcp or tcp6 that are connected to `port` of whatever address.
std::set<ino_t> sockets_connected_to(std::uint16_t port, std::string_view table);

// Those of the given process groups in which some process holds an established connection to `port`. Looks at every
// process of the machine: not for often.
std::set<pid_t> groups_connected_to(std::uint16_t port, const std::set<pid_t>& groups);

}  // namespace sml::os
