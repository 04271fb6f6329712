// Listens on the coordinator's port and accepts connections there, and finds numeric addresses of hosts. No TLS, no
// messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/os/connections.h"
#include "common/os/fd.h"

namespace sml::dialin {

// A non-blocking socket that listens on the port, or on a free one for 0, on all interfaces, IPv4 and IPv6. Error (Io):
// it cannot listen; if the port is taken, names the holder.
Result<os::UniqueFd> listen_on(std::uint16_t port);

// The same, but returns nullopt if the port is already taken.
Result<std::optional<os::UniqueFd>> listen_unless_taken(std::uint16_t port);

// Names the holder of a port, as a sentence without its end. Mostly it is another job, or someone who waits for this
// job's hosts to call; the process is not known if it is another user's, or private, as each sml-run is
// (common/os/private_process.h).
std::string held_by(const os::PortHolder& holder);

// Gives an accepted connection TCP_NODELAY and the kernel's detection of a silent peer.
void set_up_accepted(int fd);

// The port of a socket; 0: unknown.
std::uint16_t own_port(int fd);

// The numeric addresses of the local and the remote end; an IPv4-mapped IPv6 address as IPv4. Empty if unknown.
std::string near_address(int fd);
std::string far_address(int fd);

// The numeric addresses that a name has now. Blocks for the resolver, without a timeout of its own. Error: Resolve.
Result<std::vector<std::string>> addresses_of(const std::string& name);

// The addresses of this machine that others may reach: not those of loopback, nor link-local ones of IPv6. At most
// kMostAddresses; empty if they cannot be found out.
inline constexpr std::size_t kMostAddresses = 8;
std::vector<std::string> own_addresses();

}  // namespace sml::dialin
