// Connects to a host by its addresses, with a time limit for every wait.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/net/waiting.h"

namespace sml::net {

// Tries the addresses in turn, each up to `timeout`. The socket is non-blocking, close-on-exec and has TCP_NODELAY; it
// detects a peer that is silent for kSilentPeer, by keep-alive and by TCP_USER_TIMEOUT (tcp(7)). Errors: Connect,
// Timeout (all addresses silent), Io (no descriptor); with more than one address, the message has the reason for each.
Result<os::UniqueFd> connect_to(const std::vector<names::Address>& addresses, Duration timeout,
                                const CancelToken& cancel);

// TCP gives a connection up when its peer has been silent for this time.
inline constexpr Duration kSilentPeer = std::chrono::seconds(30);

// For a caller that itself decides when a silent peer is lost, after `limit`: TCP gives the connection up 5 s later,
// and not before kSilentPeer. Changes nothing if `fd` is no TCP socket.
void leave_silence_to_user(int fd, Duration limit);

// Numeric forms of the two ends; empty if the socket is not IP.
std::string local_address(int fd);
std::string peer_address(int fd);

}  // namespace sml::net
