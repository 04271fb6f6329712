// What messenger and agent say at the agent's door: a socket of the abstract namespace, which is that of the network,
// so that containers and folders of logins' own do not come between.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <sys/un.h>

#include "common/os/fd.h"

namespace sml::agent {

// An answer of one byte. Nothing comes where the pipe is not taken.
inline constexpr char kTaken = 't';
inline constexpr char kGoodbye = 'b';

struct DoorAddress {
  sockaddr_un address{};
  unsigned int size = 0;
};
DoorAddress door_address(const std::string& name);

os::UniqueFd make_door_socket();
// The process at the other end, when it is of our own user; 0: it is not.
pid_t peer_of_our_user(int socket);

// A frame, and two descriptors.
[[nodiscard]] bool hand_over(int socket, std::string_view frame, std::array<int, 2> ends);
struct HandedOver {
  std::string frame;
  std::array<os::UniqueFd, 2> ends;
};
std::optional<HandedOver> take_over(int socket);

}  // namespace sml::agent
