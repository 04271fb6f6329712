// Who holds a TCP connection to a port, or listens on it, by the kernel's own tables. Linux.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace sml::os {

// The sockets (inodes) in the text of /proc/net/tcp or tcp6 that are connected to `port` of whatever address.
std::set<ino_t> sockets_connected_to(std::uint16_t port, std::string_view table);

// Those of the given process groups in which some process holds an established connection to `port`. Looks at every
// process of the machine: not for often.
std::set<pid_t> groups_connected_to(std::uint16_t port, const std::set<pid_t>& groups);

struct Listener {
  uid_t user = 0;
  ino_t socket = 0;
};
// Who listens on `port` of whatever address, by the text of /proc/net/tcp or tcp6.
std::optional<Listener> listener_on(std::uint16_t port, std::string_view table);

struct PortHolder {
  uid_t user = 0;
  pid_t pid = 0;        // 0: of another user, and not ours to know
  std::string program;  // empty likewise
};
// Who listens on that port of this machine; nothing: nobody does any more.
std::optional<PortHolder> holder_of_port(std::uint16_t port);

}  // namespace sml::os
