// Whose a TCP socket of this machine is, by the addresses of its two ends. Linux.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

#include <boost/asio/ip/tcp.hpp>

#include "common/os/fd.h"

namespace sml::os {

// As the socket sees them. IPv4 addresses are such, not ::ffff:a.b.c.d.
struct TcpEnds {
  boost::asio::ip::tcp::endpoint local;
  boost::asio::ip::tcp::endpoint remote;
};

struct SocketOwner {
  enum class State : std::uint8_t {
    Held,    // some process has it open
    Closed,  // the connection is not over yet, but no process has it any more: its user is not known
    Absent,  // there is none with these ends in this network namespace
    Untold,  // this kernel does not tell
  };
  State state = State::Untold;
  uid_t uid = 0;  // Held: who made it. Users that this namespace does not know are the overflow user.
};

// Asks the kernel for one socket, at the cost of two system calls; reads its whole table where it cannot be asked.
class SocketOwners {
 public:
  SocketOwners();
  SocketOwner owner_of(const TcpEnds& ends);

 private:
  std::optional<SocketOwner> ask_kernel(const TcpEnds& ends);

  UniqueFd netlink_;
  bool answers_ = false;  // it has found one; before, "there is none" may mean that the kernel lacks the module
};

// A message of the kernel's in answer to a question about one socket (sock_diag(7)).
struct DiagAnswer {
  enum class About : std::uint8_t { ASocket, NoSocket };
  About about = About::NoSocket;
  SocketOwner owner;  // Absent, too, where it is about another socket
};
// Nothing: these bytes are none that tell it.
std::optional<DiagAnswer> read_diag_answer(const TcpEnds& ends, std::string_view bytes);

// What the text of /proc/net/tcp or tcp6 says of the socket; nothing when it is not in there.
std::optional<SocketOwner> find_owner(const TcpEnds& ends, std::string_view table);

}  // namespace sml::os
