// What launcher and agent say about the connection between them itself, among the messages (messages.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace sml::wire {

// So many bytes of frames have come, counted from the first: they will not be asked for again. In both directions.
struct Received {
  std::uint64_t bytes = 0;
  void fields(auto& a) { a(bytes); }
};

// The first and only message to an agent that was started as a messenger (--return): the connection to another agent
// has broken, and this one is to take its place.
struct Return {
  std::string mark;            // of this connection
  std::string door;            // HelloAck::door
  std::int32_t pid = 0;        // HelloAck::pid: nobody  else is told the secret
  std::string secret;          // Hello::return_secret
  std::uint64_t received = 0;  // bytes of frames that have come
  void fields(auto& a) { a(mark, door, pid, secret, received); }
};
inline constexpr std::size_t kMaxReturn = 4096;  // bytes of its frame

}  // namespace sml::wire
