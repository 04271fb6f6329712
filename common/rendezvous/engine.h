// A server of many clients as a pure machine: bytes in, bytes out, time passed in. The sockets are somebody else's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/strong.h"

namespace sml::rendezvous {

using ClientId = Strong<struct ClientIdTag>;  // one connection; not used again in the life of an engine

// What an engine wants done for one client.
struct Effect {
  enum class Then : std::uint8_t { Stay, Close, Fault };  // Close: when the bytes have been sent; Fault: at once
  ClientId client;
  std::string bytes;  // after those of earlier effects
  Then then = Then::Stay;
  std::string fault;  // a clause: what the client did wrong, if anything
};

// Bounded whatever clients send: a client that breaks the protocol is given up (Fault), one that does not take its
// answers is not heard until it does. No call throws on foreign bytes. Every call may leave effects to be taken.
class Engine {
 public:
  static constexpr Duration kStall = std::chrono::seconds(60);  // for a request or an answer that does not get on

  virtual ~Engine() = default;

  virtual void opened(ClientId client, TimePoint now) = 0;
  // Unknown clients, and those that have been given up, are ignored.
  virtual void received(ClientId client, std::string_view bytes, TimePoint now) = 0;
  // So many bytes of its effects have been given to the system.
  virtual void sent(ClientId client, std::size_t bytes, TimePoint now) = 0;
  // The connection is no more. Answers what was wrong with that: empty, or a clause.
  virtual std::string closed(ClientId client) = 0;
  // Whether a whole request of it has been understood. Until then it may be anybody.
  virtual bool proved(ClientId client) const = 0;
  // Whether received() may be called; otherwise its bytes should wait in the socket.
  virtual bool takes_input(ClientId client) const = 0;

  virtual std::vector<Effect> take_effects() = 0;
  virtual std::optional<TimePoint> deadline() const = 0;
  virtual void pass(TimePoint now) = 0;            // the deadline has come
  virtual void restart_clocks(TimePoint now) = 0;  // clients have stood still and are not to blame
};

}  // namespace sml::rendezvous
