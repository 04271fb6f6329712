// A byte pipe to one agent that survives broken connections: if the transport breaks, the link makes another to the
// same agent, by a reconnect helper, and sends the bytes again that the agent has not received. It stands between the
// session and the transports.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/wire/handshake.h"
#include "common/wire/messages.h"
#include "common/wire/resumable_stream.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_transport.h"

namespace sml::transport {

// Used on the loop's thread only. The owner may destroy it within transport_is_local().
class ResumableLink final {
 public:
  // Makes a transport to a reconnect helper on the host, whose first line begins with `mark`. Empty: there can be none,
  // and a broken transport is the end.
  using Again = std::function<std::unique_ptr<AgentTransport>(const std::string& mark)>;

  // `image` and `events` outlive it. `first` is the first transport, not started yet. `events` receives the calls of
  // all transports as if they were one.
  ResumableLink(boost::asio::any_io_executor loop, const AgentImage& image, TransportEvents& events,
                std::unique_ptr<AgentTransport> first, Again again);
  ~ResumableLink();

  void start();
  void send(std::string bytes);
  void send_static(std::string_view bytes);
  std::size_t unsent() const { return now_ ? now_->transport->unsent() : 0; }
  // After transport_closed: as in AgentTransport, and also true if a reconnect helper has not found the agent any more.
  bool far_side_ended() const;
  bool ends_with_guardian() const { return now_ && now_->transport->ends_with_guardian(); }

  // Returns the first message with what lets the agent wait, for `hold_ms`, for the launcher to reconnect: the secret,
  // and the time if its guardian is killed.
  // From now on sent and received bytes are frames, and are counted.
  wire::Hello greet(wire::Hello hello);
  // Counts frame bytes that arrived before greet(), behind the agent's first line.
  void frames_came(std::size_t bytes) { received_.add(bytes); }
  // From now on a broken transport is not the end, if the agent has a reconnect socket.
  void agree(const wire::HelloAck& ack);
  // Call when Bye has arrived: from now on a broken transport is the end again. Returns an acknowledgement of all
  // frames, to be sent: the agent waits for it, as its last messages may have been lost.
  std::string say_goodbye();
  // Call when no bytes have been received for long: tries another transport beside the existing one.
  void doubt();

  // When the agent was last asked to go on over a reconnect helper, or its transport last resumed by itself.
  TimePoint asked_at() const;
  // Returns an acknowledgement of the agent's frames, as a frame to be sent; nullopt: none is due.
  std::optional<std::string> receipt();
  // The agent has received all bytes before this position. Returns false if that many were not sent.
  [[nodiscard]] bool acknowledge(std::uint64_t place) { return sent_.acknowledge(place); }

 private:
  class Pipe;
  // Where a reconnect helper finds the agent.
  struct Place {
    std::string reconnect_socket;
    std::int32_t pid = 0;
  };

  // Events of the transports, now_ or next_.
  void step(const Pipe& pipe, std::string_view text);
  void is_local(const Pipe& pipe);
  void opened(const Pipe& pipe, std::string_view local_address, std::string_view peer_address);
  void came(Pipe& pipe, std::span<const char> bytes);
  void closed(const Pipe& pipe, const Error& why);

  void deliver(std::span<const char> bytes);
  void greeted(Pipe& pipe, const wire::Greeting& greeting);
  void ask_to_reconnect();                // sends ReconnectRequest to the reconnect helper
  void resume(std::uint64_t received);    // next_ becomes now_; `received`: the agent's count of frame bytes
  void broke(Error why, Duration limit);  // `limit`: how long the agent waits
  void drop(std::unique_ptr<Pipe> pipe);
  void try_again();
  void try_later();
  void give_up(const Error& why);  // not a reference to why_, which is reset meanwhile

  // A transport, and the parser of its first lines.
  class Pipe final : public TransportEvents {
   public:
    Pipe(ResumableLink& link, std::string mark, std::unique_ptr<AgentTransport> way)
        : transport(std::move(way)), greeting(mark), mark_(std::move(mark)), link_(&link) {}
    void transport_step(std::string_view text) override {
      if (link_ != nullptr) link_->step(*this, text);
    }
    void transport_is_local() override {
      if (link_ != nullptr) link_->is_local(*this);
    }
    void transport_open(std::string_view local_address, std::string_view peer_address) override {
      if (link_ != nullptr) link_->opened(*this, local_address, peer_address);
    }
    void transport_bytes(std::span<const char> bytes) override {
      if (link_ != nullptr) link_->came(*this, bytes);
    }
    void transport_closed(const Error& why) override {
      if (link_ != nullptr) link_->closed(*this, why);
    }
    const std::string& mark() const { return mark_; }
    // No event of the transport reaches the link any more.
    void leave_link() { link_ = nullptr; }

    std::unique_ptr<AgentTransport> transport;
    wire::GreetingReader greeting;  // of a reconnect helper

   private:
    std::string mark_;
    ResumableLink* link_;  // null: this has been dropped, and may outlive the link
  };

  boost::asio::any_io_executor loop_;
  const AgentImage& image_;
  TransportEvents& events_;
  Again again_;
  std::string secret_;                  // authenticates the launcher's reconnect helpers; empty: there are none
  std::unique_ptr<Pipe> now_;           // the transport in use; null: it is broken
  std::unique_ptr<Pipe> next_;          // the transport of a reconnect helper that is being started; null: none
  std::optional<std::uint64_t> asked_;  // the position from which next_ was asked to go on; nullopt: not asked
  std::uint64_t comes_twice_ = 0;       // how many of the next received bytes were received before
  Duration silence_{};                  // the heartbeat timeout: how long an agent waits whose guardian was killed
  Duration hold_{};                     // how long any other agent waits for a reconnect helper
  std::optional<Place> place_;          // where the agent waits; nullopt: a broken transport is the end
  std::optional<Error> why_;            // why the connection broke; set while it is broken
  boost::asio::steady_timer limit_;     // the end of the tries
  boost::asio::steady_timer pause_;     // between two tries
  wire::SentBytes sent_;
  wire::ReceivedBytes received_;
  TimePoint asked_at_ = TimePoint::min();
  bool counts_ = false;      // sent bytes are kept, and received bytes counted
  bool agent_gone_ = false;  // a reconnect helper has not found the agent
  int times_sent_ = 0;       // how often the reconnect helper's host was sent the agent's bytes
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// A random word that cannot be guessed, so that a line that begins with it is not noise. Throws if the system gives no
// random bytes.
std::string make_mark();

}  // namespace sml::transport
