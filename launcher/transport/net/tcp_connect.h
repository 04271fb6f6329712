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

// Tries the addresses in turn, each for at most `timeout`; blocks. The socket is non-blocking, close-on-exec and has
// TCP_NODELAY; it detects a peer that is silent for kSilentPeer, by keep-alive and by TCP_USER_TIMEOUT (tcp(7)).
// Errors: Connect or Timeout, as the last address failed; Io (no descriptor), Resolve (no address), Internal
// (cancelled). With more than one address, the message has the reason for each.
Result<os::UniqueFd> connect_to(const std::vector<names::Address>& addresses, Duration timeout,
                                const CancelToken& cancel);

// TCP closes a connection when its peer has been silent for this time.
inline constexpr Duration kSilentPeer = std::chrono::seconds(30);

// For a caller that itself decides, after `limit`, that a silent peer is lost: TCP closes the connection 5 s later than
// that, and not before kSilentPeer. Changes nothing if `fd` is no TCP socket.
void leave_silence_to_user(int fd, Duration limit);

// Numeric forms of the two ends; empty if the socket is not IP.
std::string local_address(int fd);
std::string peer_address(int fd);

}  // namespace sml::net
