// One caller as the coordinator sees it: one connection, the caller's claimed identity, and its place in the job. After
// a break the caller comes back on a new connection as a new Peer, which takes over the place and the message stream of
// the earlier Peer.
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

// A place of the job: joins the host's connection (`peer`) and the transport of its agent session (`events`); either
// may come first. The coordinator, the transport and the peer share it.
struct PeerSlot {
  Peer* peer = nullptr;                          // null: no host has this place, or the host has left for good
  transport::TransportEvents* events = nullptr;  // null: the session has not begun, or is over
  std::string mark;                              // see Begin::mark
  bool begun = false;                            // Begin has been sent: the host was asked to start its agent
  std::optional<Error> why_not{};                // a host has called for this place, and cannot take part
  TimePoint reconnected_at = TimePoint::min();   // AgentTransport::reconnected_at

  bool is_out() const { return begun && events == nullptr; }  // its peer only waits for the end of the job
  // Asks the host to start its agent, once both the peer and the session are there. Otherwise does nothing.
  void begin();
  // Reports to the session that its transport has ended; no further event follows. Does nothing without a session.
  void send_end(const Error& why) {
    if (transport::TransportEvents* to = std::exchange(events, nullptr)) to->transport_closed(why);
  }
};

// The coordinator's callbacks for a peer. Called on the loop's thread.
class PeerOwner {
 public:
  virtual ~PeerOwner() = default;
  // The peer has proved the key and sent its Introduction.
  virtual void peer_introduces(Peer& peer, const Introduction& introduction) = 0;
  // A host reconnects after a break; `peer` is its new connection.
  virtual void peer_reconnects(Peer& peer, const Reconnect& return_of) = 0;
  // That host has received a stop signal.
  virtual void peer_stops(const std::string& host, int signo) = 0;
  // The connection ended before the peer identified itself.
  virtual void unknown_peer_left(const Peer& peer, const Error& why) = 0;
  // The connection has ended. Called at most once for each peer; give_way() does not call it.
  virtual void peer_disconnected(const Peer& peer) = 0;
  // The peer can be destroyed, but not from within this call.
  virtual void peer_is_gone(const Peer& peer) = 0;
};

// All calls and callbacks are on the loop's thread. The PeerOwner owns it.
class Peer final : public std::enable_shared_from_this<Peer>, private LinkEvents {
 public:
  // Starts the link. `owner` and the loop outlive the peer. `fd`: the link's socket, which the link owns. `longest`:
  // the longest wait for a reconnect.
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
  // The peer has left for good, or another Peer has taken its place: its owner may destroy it.
  bool gone() const { return gone_; }
  // The connection has broken and the peer may reconnect.
  bool is_broken() const { return broken_ && !gone_; }
  // Whether no byte was received for as long as the longest wait for a reconnect.
  bool is_silent() const { return Clock::now() - received_at_ >= longest_; }

  // ---- before it has a place

  // Its first message matches this job: cancels the link's time limit for identifying itself.
  void identified() { link_->known(); }
  // Records that the peer waits for a place, which it gets when enough other hosts are here.
  void wait(const Introduction& introduction) {
    waits_ = Unplaced{introduction.preferred, ends_.far};
    share_ = introduction.share;
  }
  const plan::HostShare& share() const { return share_; }
  // nullopt: it does not wait, or is a latecomer.
  const std::optional<Unplaced>& waits() const { return waits_; }
  // Records that the peer is a latecomer: it waits for a place that does not exist yet (Coordinator::know()).
  void wait_for_more() { is_late_ = true; }
  bool is_late() const { return is_late_; }
  // Sends the refusal and ends the stream; the peer is gone when the connection has ended.
  void turn_away(const Refused& refused);
  // Closes this connection at once; the peer is gone then. The host may call again. No further callback.
  void give_way();

  // ---- with a place

  // Lets the peer in: gives it the place, and sends `welcome` with a new ticket. `host`: the name that belongs to the
  // place.
  void take(std::shared_ptr<PeerSlot> slot, Welcome welcome, const std::string& host);
  // Null if it was not let in, or if the host has reconnected as another Peer.
  std::shared_ptr<PeerSlot> slot() const { return stay_ ? stay_->slot : nullptr; }
  const std::string& host() const { return stay_->host; }
  // Whether its Welcome had that ticket.
  bool has(std::string_view ticket) const { return stay_ && wire::same_secret(stay_->ticket, ticket); }
  // Sends the message; while the connection is broken, keeps it for the next one.
  void send(const ToPeer& message) { write_frame(encode(message)); }
  void send_bytes(std::string_view bytes) {
    send_in_pieces(bytes, [this](Bytes piece) { write_frame(encode(ToPeer(std::move(piece)))); });
  }
  // The number of bytes queued and not yet handed to the kernel; 0 while the connection is broken.
  std::size_t unsent() const { return broken_ ? 0 : link_->unsent(); }
  // Sends what is queued and ends the stream; nothing may be sent afterwards.
  void finish();
  // Takes over the place and the message stream of `before`, the same host's earlier connection, which is gone then.
  // `received`: see Reconnect. Returns false, and changes nothing, if bytes that the host has not received are no
  // longer kept.
  [[nodiscard]] bool resume_from(Peer& before, std::uint64_t received);

 private:
  // The state that survives a reconnect.
  struct Stay {
    std::shared_ptr<PeerSlot> slot;
    std::string host;
    std::string ticket;
    ResumeBuffer conversation = {};  // the message stream in both directions
    bool finishing = false;          // finish() was called
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
  TimePoint received_at_ = called_at_;
  Duration longest_;            // the longest wait for a reconnect
  Duration reconnect_limit_{};  // the wait for a reconnect after a break of this connection
  boost::asio::steady_timer reconnect_timer_;
  std::optional<Stay> stay_;  // nullopt: not let in
  std::optional<Unplaced> waits_;
  plan::HostShare share_;
  bool is_late_ = false;
  bool introduced_ = false;  // Introduction or Reconnect has come
  bool broken_ = false;      // the connection is down, and a reconnect is awaited
  bool gone_ = false;
};

}  // namespace sml::dialin
