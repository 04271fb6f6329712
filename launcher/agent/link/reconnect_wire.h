// The protocol between reconnect helper and agent at the agent's reconnect socket. The socket is in the abstract
// namespace, which belongs to the network namespace, so that containers and private folders of logins do not hide it.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <sys/un.h>

#include "common/os/fd.h"

namespace sml::agent {

// The agent's answers, of one byte each: it has taken the pipe; it has sent its last message. A refusal has no answer:
// the agent closes the connection.
inline constexpr char kTaken = 't';
inline constexpr char kGoodbye = 'b';

struct ReconnectAddress {
  sockaddr_un address{};
  unsigned int size = 0;  // the number of bytes of `address` that count
};
ReconnectAddress reconnect_address(const std::string& name);

// A socket that is neither bound nor connected; empty if none can be made.
os::UniqueFd make_reconnect_socket();
// The id of the process at the other end if it belongs to the same user, else 0.
pid_t peer_of_our_user(int socket);

// Sends the frame of the request and the descriptors of the new pipe: for input, for output. Returns false on an error.
[[nodiscard]] bool hand_over(int socket, std::string_view frame, std::array<int, 2> ends);
struct HandedOver {
  std::string frame;
  std::array<os::UniqueFd, 2> ends;
};
// Receives what hand_over() has sent, without waiting; nullopt if there is nothing, or anything else.
std::optional<HandedOver> take_over(int socket);

}  // namespace sml::agent
