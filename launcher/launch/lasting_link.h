// The byte pipe to one agent, as one that does not break: where the transport does, another is made to the same agent,
// and what was on its way goes once more. Between the session and the transports.
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
#include "common/wire/lasting_stream.h"
#include "common/wire/messages.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/agent_transport.h"

namespace sml::launch {

// One thread, the loop's. Its owner may destroy it within transport_is_local().
class LastingLink final {
 public:
  // A transport to a messenger there, whose first line begins with `mark`. Null: there can be none.
  using Again = std::function<std::unique_ptr<AgentTransport>(const std::string& mark)>;

  // `image` and `events` outlive it. The transport is the first.
  LastingLink(boost::asio::any_io_executor loop, const AgentImage& image, TransportEvents& events,
              std::unique_ptr<AgentTransport> first, Again again);
  ~LastingLink();

  void start();
  void send(std::string bytes);
  void send_lasting(std::string_view bytes);
  std::size_t unsent() const { return now_ ? now_->transport->unsent() : 0; }
  // After transport_closed: as transports tell it, and also when a messenger has not found the agent any more.
  bool far_side_ended() const;

  // The first frame, with what lets the agent wait for us. What is sent from now on are frames, and what comes is
  // counted as such.
  wire::Hello greet(wire::Hello hello);
  void frames_came(std::size_t bytes) { received_.add(bytes); }
  // From now on a transport that breaks is not the end, if the agent has a door.
  void agree(const wire::HelloAck& ack);
  // ... and from now on it is. A frame: the agent waits for it, as its last words may have been lost on the way.
  std::string say_goodbye();
  // Nothing has been heard for long: tries another transport beside the one that there is.
  void doubt();

  // When the agent was last asked to go on with a messenger, or its transport has gone on by itself.
  TimePoint asked_at() const;
  // When the agent is to be told what has come of its frames: a frame that does.
  std::optional<std::string> receipt();
  // False: it cannot have that.
  [[nodiscard]] bool acknowledge(std::uint64_t place) { return sent_.acknowledge(place); }

 private:
  class Pipe;
  // Of the agent.
  struct Place {
    std::string door;
    std::int32_t pid = 0;
  };

  void step(const Pipe& pipe, std::string_view text);
  void is_local(const Pipe& pipe);
  void opened(const Pipe& pipe, std::string_view local_address, std::string_view peer_address);
  void came(Pipe& pipe, std::span<const char> bytes);
  void closed(const Pipe& pipe, const Error& why);

  void note_time();
  void deliver(std::span<const char> bytes);
  void greeted(Pipe& pipe, const wire::Greeting& greeting);
  void ask_to_return();
  void go_on(std::uint64_t received);
  void broke(Error why);
  void drop(std::unique_ptr<Pipe> pipe);
  void try_again();
  void try_later();
  void give_up(const Error& why);  // not why_ itself, which is gone then

  class Pipe final : public TransportEvents {
   public:
    Pipe(LastingLink& link, std::string mark, std::unique_ptr<AgentTransport> way)
        : transport(std::move(way)), greeting(mark), mark_(std::move(mark)), link_(link) {}
    void transport_step(std::string_view text) override { link_.step(*this, text); }
    void transport_is_local() override { link_.is_local(*this); }
    void transport_open(std::string_view local_address, std::string_view peer_address) override {
      link_.opened(*this, local_address, peer_address);
    }
    void transport_bytes(std::span<const char> bytes) override { link_.came(*this, bytes); }
    void transport_closed(const Error& why) override { link_.closed(*this, why); }
    const std::string& mark() const { return mark_; }

    std::unique_ptr<AgentTransport> transport;
    wire::GreetingReader greeting;  // of a messenger

   private:
    std::string mark_;
    LastingLink& link_;
  };

  boost::asio::any_io_executor loop_;
  const AgentImage& image_;
  TransportEvents& events_;
  Again again_;
  std::string secret_;                    // by which a messenger of ours is known; empty: there are none
  std::unique_ptr<Pipe> now_;             // null: broken
  std::unique_ptr<Pipe> next_;            // a messenger is on its way
  std::optional<std::uint64_t> asked_;    // the messenger: bytes that had come then
  std::uint64_t comes_twice_ = 0;         // of what the next bytes are
  Duration hold_{};                       // how long the agent waits for one
  std::optional<Place> place_;            // where it does; nothing: a transport that breaks is the end
  std::optional<TimePoint> reached_out_;  // the first step towards the agent
  std::optional<Duration> took_;          // until the login there spoke
  std::optional<Error> why_;              // it broke
  boost::asio::steady_timer limit_;
  boost::asio::steady_timer pause_;
  wire::SentBytes sent_;
  wire::ReceivedBytes received_;
  TimePoint asked_at_ = TimePoint::min();
  bool counts_ = false;
  bool agent_gone_ = false;  // unless it comes back
  int times_sent_ = 0;       // the agent, to the messenger's host
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// A word that nobody can know beforehand: what begins with it is no noise.
std::string make_mark();

}  // namespace sml::launch
