// The interface of a store's protocol for many clients, as a pure state machine: received bytes and elapsed time go in,
// bytes to send come out. The caller (StoreServer) owns the sockets.
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
  enum class Then : std::uint8_t { Stay, Close, Fault };  // Close: once all bytes are sent; Fault: close at once
  ClientId client;
  std::string bytes;  // to send after those of earlier effects
  Then then = Then::Stay;
  std::string fault;  // what the client did wrong, a part of a sentence; empty: nothing
};

// Memory is bounded whatever clients send: a client that breaks the protocol is dropped (Fault); no input is taken from
// a client that does not read its replies. No call throws on foreign bytes. Every call may cause effects, which the
// caller fetches with take_effects() and applies in their order.
class Engine {
 public:
  // A client whose request or reply makes no progress for this long is dropped.
  static constexpr Duration kStall = std::chrono::seconds(60);

  virtual ~Engine() = default;

  // A client has connected and may be served.
  virtual void opened(ClientId client, TimePoint now) = 0;
  // The client has sent `bytes`. Ignored for unknown and dropped clients.
  virtual void received(ClientId client, std::string_view bytes, TimePoint now) = 0;
  // `bytes` bytes of the client's effects have been given to the kernel.
  virtual void sent(ClientId client, std::size_t bytes, TimePoint now) = 0;
  // The connection has ended. Returns what was wrong with that, as a part of a sentence; empty if nothing was.
  virtual std::string closed(ClientId client) = 0;
  // Whether the client has sent a whole valid request. Until then it may be any program that has connected.
  virtual bool proved(ClientId client) const = 0;
  // Whether received() may be called; if not, the client's bytes should wait in the socket.
  virtual bool takes_input(ClientId client) const = 0;

  virtual std::vector<Effect> take_effects() = 0;
  // When to call pass(), unless another call changes it before; nullopt: no need to.
  virtual std::optional<TimePoint> deadline() const = 0;
  virtual void pass(TimePoint now) = 0;  // call at the deadline: drops clients whose time is over
  // Call after the workers were suspended: gives each client its full time again, as it could not make progress.
  virtual void restart_clocks(TimePoint now) = 0;
};

}  // namespace sml::agent
