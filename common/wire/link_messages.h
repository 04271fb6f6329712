// Messages between launcher and agent about their connection itself (part of messages.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/wire/message_rules.h"

namespace sml::wire {

// Acknowledges this many bytes of frames, counted from the first: they will not be requested again. In both directions.
struct Received {
  std::uint64_t bytes = 0;
  void fields(auto& a) { a(bytes); }
  static constexpr Rules kRules{.peer_check = PeerCheck::Unchecked, .phase = Phase::Connection};
};

// The first and only message to an agent that was started as a reconnect helper (--return): the connection to the
// running agent has broken, and the helper's connection is to take its place.
struct ReconnectRequest {
  std::string mark;              // the mark of this connection
  std::string reconnect_socket;  // HelloAck::reconnect_socket
  std::int32_t pid = 0;          // HelloAck::pid: no other process gets the secret
  std::string secret;            // Hello::return_secret
  std::uint64_t received = 0;    // bytes of frames that the launcher has received
  void fields(auto& a) { a(mark, reconnect_socket, pid, secret, received); }
  // The agent's link on a peer is not resumable: peer and coordinator reconnect by themselves.
  static constexpr Rules kRules{.peer_check = PeerCheck::Refused};
};
inline constexpr std::size_t kMaxReturn = 4096;  // bytes of its frame

}  // namespace sml::wire
