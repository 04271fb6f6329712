// From the addresses of a host to a connected socket, with an end to every wait.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/names/addresses.h"
#include "launcher/net/waiting.h"

namespace sml::net {

// Tries the addresses in turn, each up to `timeout`. The socket is non-blocking, close-on-exec, without delay, and
// notices a silent peer by keep-alive and by TCP_USER_TIMEOUT (30 s). Errors: Connect, Timeout (all addresses silent),
// Io (no descriptor); with more than one address each with its own reason.
Result<os::UniqueFd> connect_to(const std::vector<names::Address>& addresses, Duration timeout,
                                const CancelToken& cancel);

// Numeric forms of the two ends; empty for sockets that are not IP.
std::string local_address(int fd);
std::string peer_address(int fd);

}  // namespace sml::net
