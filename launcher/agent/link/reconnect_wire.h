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

// Answers of one byte. Nothing is sent if the agent refuses the pipe.
inline constexpr char kTaken = 't';
inline constexpr char kGoodbye = 'b';

struct ReconnectAddress {
  sockaddr_un address{};
  unsigned int size = 0;
};
ReconnectAddress reconnect_address(const std::string& name);

os::UniqueFd make_reconnect_socket();
// The process at the other end if it belongs to the same user, else 0.
pid_t peer_of_our_user(int socket);

// Sends a frame and two descriptors.
[[nodiscard]] bool hand_over(int socket, std::string_view frame, std::array<int, 2> ends);
struct HandedOver {
  std::string frame;
  std::array<os::UniqueFd, 2> ends;
};
std::optional<HandedOver> take_over(int socket);

}  // namespace sml::agent
