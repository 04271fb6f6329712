// From a host's name to its addresses, as this machine's own programs would find them.
//
// A static program must not load the modules of the host's name service (nsswitch.conf, libnss_*.so): they belong to
// another C library. It asks the hosts file and DNS itself, which every C library has built in, and for what only a
// module knows (sssd, resolved, mDNS) the host's own program getent.
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

// Once, before the first thread and the first look-up. Does nothing in a program that is not static.
void keep_to_built_in_sources();

// All addresses of a name or of a number's text, in the system's order of preference. `family` is AF_UNSPEC, AF_INET or
// AF_INET6. Waits as long as the resolver's own limits say; nothing can cancel it. Error: Resolve.
Result<std::vector<Address>> addresses_of(const std::string& host, std::uint16_t port, int family);

// Its text without a port; empty for what is not IP.
std::string numeric(const sockaddr& address, socklen_t size);

}  // namespace sml::names
