// Resolves a host's name to its addresses, as this machine's own programs would.
//
// A static program must not load the modules of the host's name service (nsswitch.conf, libnss_*.so): they belong to
// another C library. It reads the hosts file and asks DNS itself, which every C library has built in, and asks the
// host's own program getent for names that only a module knows (sssd, resolved, mDNS).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/core/error.h"

namespace sml::names {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr& any() const { return reinterpret_cast<const sockaddr&>(storage); }
};

// Restricts the C library's look-ups to files and DNS. Call once, before the first thread and the first look-up. Does
// nothing in a program that is not static.
void keep_to_built_in_sources();

// All addresses of a host name or a numeric address, in the system's order of preference, each with that port. `family`
// is AF_UNSPEC, AF_INET or AF_INET6. Blocks as long as the resolver's own limits allow; cannot be cancelled. Error
// (Resolve): there is none.
Result<std::vector<Address>> addresses_of(const std::string& host, std::uint16_t port, int family);

// The numeric form without a port; empty if it is not an IP address.
std::string numeric(const sockaddr& address, socklen_t size);

}  // namespace sml::names
