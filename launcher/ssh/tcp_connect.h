// From a host name to a connected socket, with an end to every wait but the resolver's.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/ssh/login_settings.h"
#include "launcher/ssh/waiting.h"

namespace sml::ssh {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr& any() const { return reinterpret_cast<const sockaddr&>(storage); }
};

// All addresses of a name, in the system's order of preference. getaddrinfo cannot be cancelled and ends when the
// resolver's own limits say so: the caller's owner must not wait for it. Error: Resolve.
Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, AddressFamily family);

// Tries the addresses in turn, each up to `timeout`. The socket is non-blocking, close-on-exec, without delay, and
// notices a silent peer by keep-alive and by TCP_USER_TIMEOUT (30 s). Errors: Connect, Timeout (all addresses silent),
// Io (no descriptor); with more than one address each with its own reason.
Result<os::UniqueFd> connect_to(const std::vector<Address>& addresses, Duration timeout, const CancelToken& cancel);

// Numeric forms of the two ends; empty for sockets that are not IP.
std::string local_address(int fd);
std::string peer_address(int fd);

}  // namespace sml::ssh
