// Finds the user that owns a TCP socket of this machine, by the addresses of its two ends. Linux.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

#include <boost/asio/ip/tcp.hpp>

#include "common/os/fd.h"

namespace sml::os {

// The ends of a connection, as the socket in question has them: `local` is its own. IPv4 addresses are in IPv4 form,
// not ::ffff:a.b.c.d.
struct TcpEnds {
  boost::asio::ip::tcp::endpoint local;
  boost::asio::ip::tcp::endpoint remote;
};

struct SocketOwner {
  enum class State : std::uint8_t {
    Held,     // some process has it open
    Closed,   // the connection is not over yet, but no process holds it any more: its user is unknown
    Absent,   // no socket with these ends exists in this network namespace
    Unknown,  // unknown: this kernel neither answers the query nor provides the table of sockets
  };
  State state = State::Unknown;
  uid_t uid = 0;  // for Held: the user that created it; the overflow user if it has no id in this user namespace
};

// Queries the kernel for one socket at a time, at the cost of two system calls; reads the table of all sockets if that
// is not possible.
class SocketOwners {
 public:
  SocketOwners();
  SocketOwner owner_of(const TcpEnds& ends);

 private:
  std::optional<SocketOwner> ask_kernel(const TcpEnds& ends);  // nullopt: the kernel did not answer the query

  UniqueFd netlink_;
  // True once a query has found a socket. Until then, "not found" may mean that the kernel lacks the module for
  // queries.
  bool answers_ = false;
};

// The kernel's reply to a query about one socket (sock_diag(7)).
struct DiagAnswer {
  enum class About : std::uint8_t { ASocket, NoSocket };
  About about = About::NoSocket;
  SocketOwner owner;  // Absent also if the reply is about another socket
};
// Returns nullopt if these bytes are no such reply.
std::optional<DiagAnswer> read_diag_answer(const TcpEnds& ends, std::string_view bytes);

// Finds the socket in the text of /proc/net/tcp or tcp6; nullopt if it is missing there.
std::optional<SocketOwner> find_owner(const TcpEnds& ends, std::string_view table);

}  // namespace sml::os
