// One caller as the coordinator sees it: its claimed identity, its place in the job, and its connection, which may
// break and be made again.
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
#include "launcher/dialin/coordinator/connection_limiter.h"
#include "launcher/dialin/coordinator/place_assignment.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/messages.h"
#include "launcher/dialin/resume_buffer.h"
#include "launcher/transport/agent_transport.h"

namespace sml::dialin {

class Peer;

// A place of the job: connects the host's connection with the host's agent session, whichever comes first.
struct PeerSlot {
  Peer* peer = nullptr;                          // null: not connected
  transport::TransportEvents* events = nullptr;  // null: the session has not begun, or is over
  std::string mark;
  bool begun = false;                          // its agent has been requested
  std::optional<Error> why_not{};              // it has called, and cannot take part
  TimePoint said_again_at = TimePoint::min();  // AgentTransport::said_again_at

  bool is_out() const { return begun && events == nullptr; }  // its peer only waits for the end of the job
  void begin();
  void tell_end(const Error& why) {
    if (transport::TransportEvents* to = std::exchange(events, nullptr)) to->transport_closed(why);
  }
};

// The coordinator's callbacks for a peer.
class PeerOwner {
 public:
  virtual ~PeerOwner() = default;
  // The peer has proved the key and sent its Introduction.
  virtual void peer_introduces(Peer& peer, const Introduction& introduction) = 0;
  // The peer reconnects after a break.
  virtual void peer_reconnects(Peer& peer, const Reconnect& return_of) = 0;
  virtual void peer_stops(const std::string& host, int signo) = 0;
  // The connection ended before the peer identified itself.
  virtual void unknown_peer_left(const Peer& peer, const Error& why) = 0;
  // The connection has ended; called once for each peer.
  virtual void peer_disconnected(const Peer& peer) = 0;
  // The peer can be destroyed, but not from within this call.
  virtual void peer_is_gone(const Peer& peer) = 0;
};

// One thread, the loop's.
class Peer final : public std::enable_shared_from_this<Peer>, private LinkEvents {
 public:
  // `owner` and the loop outlive the peer. `fd`: the link's socket. `longest`: the longest wait for a reconnect.
  Peer(const boost::asio::any_io_executor& loop, PeerOwner& owner, std::shared_ptr<Link> link, int fd,
       ConnectionLimiter::Id id, Duration longest);
  ~Peer() override { link_->abandon(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  ConnectionLimiter::Id id() const { return id_; }
  // The numeric addresses of the connection; empty if unknown.
  struct Ends {
    std::string near;
    std::string far;
  };
  const Ends& ends() const { return ends_; }
  // The peer has left for good.
  bool gone() const { return gone_; }
  // The connection has broken and the peer may reconnect.
  bool is_broken() const { return broken_ && !gone_; }
  // Whether no byte was received for as long as the longest wait for a reconnect.
  bool is_silent() const { return Clock::now() - heard_at_ >= longest_; }

  // ---- before it has a place

  // Its Introduction matches this job: cancels the link's time limit for identifying itself.
  void hear_out() { link_->known(); }
  // For a place, until the others are here.
  void wait(const Introduction& introduction) {
    waits_ = Unplaced{introduction.wished, ends_.far};
    share_ = introduction.share;
  }
  const plan::HostShare& share() const { return share_; }
  const std::optional<Unplaced>& waits() const { return waits_; }
  // Waits for a place that does not exist yet.
  void wait_for_more() { is_late_ = true; }
  bool is_late() const { return is_late_; }
  void turn_away(const Refused& refused);
  // Closes this connection in favour of a later one.
  void give_way();

  // ---- with a place

  void take(std::shared_ptr<PeerSlot> slot, Welcome welcome, const std::string& host);
  // Null if it was not let in, or has reconnected as another Peer.
  std::shared_ptr<PeerSlot> slot() const { return stay_ ? stay_->slot : nullptr; }
  const std::string& host() const { return stay_->host; }
  bool has(std::string_view ticket) const { return stay_ && wire::same_secret(stay_->ticket, ticket); }
  void send(const ToPeer& message) { write_frame(encode(message)); }
  void send_bytes(std::string_view bytes) {
    send_in_pieces(bytes, [this](Bytes piece) { write_frame(encode(ToPeer(std::move(piece)))); });
  }
  std::size_t unsent() const { return broken_ ? 0 : link_->unsent(); }
  // Sends what is queued and ends the stream; nothing may be sent afterwards.
  void finish();
  // Takes over the place and the stream of `before`, the same host's earlier connection. Returns false if bytes that
  // the host has not received are no longer kept.
  [[nodiscard]] bool go_on_for(Peer& before, std::uint64_t heard);

 private:
  // The state that survives a reconnect.
  struct Stay {
    std::shared_ptr<PeerSlot> slot;
    std::string host;
    std::string ticket;
    ResumeBuffer conversation = {};
    bool finishing = false;
  };

  void link_proved() override {}
  void link_bytes(std::span<const char> bytes) override;
  void link_closed(const Error& why) override;
  void write_frame(const std::string& frame);
  void leave(const Error& why);

  void handle(const Introduction& m);
  void handle(const Reconnect& m);
  void handle(const Acknowledge& m);
  void handle(const Alive&) {}
  void handle(const Bytes& m);
  void handle(const AgentEnded& m);
  void handle(const StopAsked& m);

  PeerOwner& owner_;
  std::shared_ptr<Link> link_;
  ConnectionLimiter::Id id_;
  FrameReader<ToCoordinator> reader_;
  Ends ends_;
  TimePoint called_at_ = Clock::now();
  TimePoint heard_at_ = called_at_;
  Duration longest_;
  Duration patience_{};
  boost::asio::steady_timer patience_timer_;
  std::optional<Stay> stay_;  // nullopt: not let in
  std::optional<Unplaced> waits_;
  plan::HostShare share_;
  bool is_late_ = false;
  bool introduced_ = false;
  bool broken_ = false;  // the connection is down, and a reconnect is awaited
  bool gone_ = false;
};

}  // namespace sml::dialin
