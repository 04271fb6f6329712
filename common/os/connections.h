// Finds the process that has a TCP connection to a port or listens on it, in the kernel's tables. Linux.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace sml::os {

// Returns the sockets (inodes) in the text of /proc/net/tcp or tcp6 that are connected to `port` on any address.
std::set<ino_t> sockets_connected_to(std::uint16_t port, std::string_view table);

// Returns those of the process groups `groups` in which some process holds an established connection to `port`. Scans
// every process of the machine: do not call often.
std::set<pid_t> groups_connected_to(std::uint16_t port, const std::set<pid_t>& groups);

struct Listener {
  uid_t user = 0;
  ino_t socket = 0;
};
// Returns who listens on `port` on any address, from the text of /proc/net/tcp or tcp6.
std::optional<Listener> listener_on(std::uint16_t port, std::string_view table);
// The same of this machine, or of this container: asks the kernel for the sockets that listen (sock_diag(7)), which
// takes microseconds where its tables of all connections take milliseconds; reads these where it does not answer.
std::optional<Listener> listener_on(std::uint16_t port);

struct PortHolder {
  uid_t user = 0;
  pid_t pid = 0;        // 0: the process belongs to another user and is not visible
  std::string program;  // empty in the same case
};
// Returns who listens on that port of this machine; nullopt if no one does any more.
std::optional<PortHolder> holder_of_port(std::uint16_t port);

}  // namespace sml::os
