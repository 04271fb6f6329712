// Finds the process that has a TCP connection to a port or listens on it, in the kernel's tables. Linux.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace sml::os {

// Returns the sockets (inodes) in the text of /proc/net/tcp or tcp6 that are connected to a remote `port`, on any
// address.
std::set<ino_t> sockets_connected_to(std::uint16_t port, std::string_view table);

// Returns those of the process groups `groups` in which some process holds an established connection to a remote
// `port`. Scans every process of the machine: do not call often.
std::set<pid_t> groups_connected_to(std::uint16_t port, const std::set<pid_t>& groups);

struct Listener {
  uid_t user = 0;    // the socket's owner
  ino_t socket = 0;  // its inode
};
// Returns the socket that listens on `port` on any address, from the text of /proc/net/tcp or tcp6; nullopt: none.
std::optional<Listener> listener_on(std::uint16_t port, std::string_view table);
// The same for this machine, or for this container. Requests the listening sockets from the kernel (sock_diag(7)),
// which takes microseconds where the tables of all connections take milliseconds; reads the tables if that request
// fails.
std::optional<Listener> listener_on(std::uint16_t port);

struct PortHolder {
  uid_t user = 0;
  pid_t pid = 0;        // 0: not visible, as another user's process or one after become_private(), such as sml-run
  std::string program;  // empty in the same case
};
// Returns the process that listens on that port of this machine; nullopt if none does any more. Scans the processes of
// the machine: do not call often.
std::optional<PortHolder> holder_of_port(std::uint16_t port);

}  // namespace sml::os
