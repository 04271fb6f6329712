// The interface of a server for many clients as a pure state machine: received bytes and elapsed time go in, bytes to
// send come out. The caller owns the sockets.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/strong.h"

namespace sml::agent {

using ClientId = Strong<struct ClientIdTag>;  // one connection; not reused in the life of an engine

// An action for one client.
struct Effect {
  enum class Then : std::uint8_t { Stay, Close, Fault };  // Close: when the bytes have been sent; Fault: at once
  ClientId client;
  std::string bytes;  // to send after those of earlier effects
  Then then = Then::Stay;
  std::string fault;  // a clause: the client's protocol error, if any
};

// Memory is bounded whatever clients send: a client that breaks the protocol is dropped (Fault); no input is taken from
// a client that does not read its replies. No call throws on foreign bytes. Every call may leave effects, to be taken
// with take_effects().
class Engine {
 public:
  static constexpr Duration kStall = std::chrono::seconds(60);  // for a request or reply without progress

  virtual ~Engine() = default;

  virtual void opened(ClientId client, TimePoint now) = 0;
  // Unknown and dropped clients are ignored.
  virtual void received(ClientId client, std::string_view bytes, TimePoint now) = 0;
  // `bytes` bytes of the client's effects have been given to the kernel.
  virtual void sent(ClientId client, std::size_t bytes, TimePoint now) = 0;
  // The connection has ended. Returns a clause that says what was wrong with that; empty if nothing.
  virtual std::string closed(ClientId client) = 0;
  // Whether a whole valid request of the client was received. Until then it may be a stranger.
  virtual bool proved(ClientId client) const = 0;
  // Whether received() may be called; if not, the client's bytes should wait in the socket.
  virtual bool takes_input(ClientId client) const = 0;

  virtual std::vector<Effect> take_effects() = 0;
  virtual std::optional<TimePoint> deadline() const = 0;
  virtual void pass(TimePoint now) = 0;            // call at the deadline
  virtual void restart_clocks(TimePoint now) = 0;  // all clients were suspended, and their stalls are not their fault
};

}  // namespace sml::agent
