#include "launcher/dialin/coordinator/peer.h"

#include <stdexcept>
#include <utility>

#include "common/core/stop_signals.h"
#include "common/core/text.h"
#include "common/os/random.h"
#include "launcher/dialin/port.h"
#include "launcher/transport/net/tcp_connect.h"

namespace sml::dialin {

namespace {

constexpr std::size_t kTicketBytes = 16;

// The kind sent by the peer, or Lost if it is out of range. Lost is the kind for an agent that ran; other kinds are
// errors before its start.
ErrorKind kind_of(const AgentEnded& m) {
  return m.kind <= static_cast<std::uint8_t>(ErrorKind::Internal) ? static_cast<ErrorKind>(m.kind) : ErrorKind::Lost;
}

std::string make_ticket() {
  std::string ticket = os::random_hex(kTicketBytes);
  if (ticket.empty()) throw std::runtime_error("the system gives no random bytes");
  return ticket;
}

}  // namespace

void PeerSlot::begin() {
  if (events == nullptr || peer == nullptr || begun) return;
  begun = true;
  peer->send(Begin{mark});
  events->transport_open(peer->ends().near, peer->ends().far);
}

Peer::Peer(const boost::asio::any_io_executor& loop, PeerOwner& owner, std::shared_ptr<Link> link, int fd,
           ConnectionLimiter::Id id, Duration longest)
    : owner_(owner),
      link_(std::move(link)),
      id_(id),
      ends_{near_address(fd), far_address(fd)},
      longest_(longest),
      reconnect_timer_(loop) {
  net::leave_silence_to_user(fd, longest_);
  link_->start(*this);
}

void Peer::turn_away(const Refused& refused) {
  link_->send(encode(ToPeer(refused)));
  link_->finish();
}

void Peer::give_way() {
  link_->abandon();
  reconnect_timer_.cancel();
  gone_ = true;
}

void Peer::take(std::shared_ptr<PeerSlot> slot, Welcome welcome, const std::string& host) {
  waits_.reset();
  is_late_ = false;
  welcome.ticket = make_ticket();
  link_->send(encode(ToPeer(welcome)));
  slot->peer = this;
  stay_ = Stay{.slot = std::move(slot), .host = host, .ticket = welcome.ticket};
}

void Peer::write_frame(const std::string& frame) {
  stay_->conversation.append(frame);
  if (!broken_) link_->send(frame);
}

void Peer::finish() {
  stay_->finishing = true;
  if (!broken_) link_->finish();
}

bool Peer::resume_from(Peer& before, std::uint64_t received) {
  const std::optional<std::string_view> unreceived = before.stay_->conversation.unreceived(received);
  if (!unreceived) return false;
  link_->send(encode(ToPeer(Resumed{before.stay_->conversation.received()})));
  link_->send(std::string(*unreceived));
  stay_ = std::exchange(before.stay_, std::nullopt);
  stay_->slot->peer = this;
  stay_->slot->reconnected_at = Clock::now();
  if (!before.broken_) owner_.peer_disconnected(before);
  before.give_way();
  if (stay_->finishing) link_->finish();
  return true;
}

// ---- messages of the peer

void Peer::link_bytes(std::span<const char> bytes) {
  received_at_ = Clock::now();
  reader_.feed(bytes);
  while (!gone_) {
    Result<std::optional<ToCoordinator>> next = reader_.next();
    if (next && !next->has_value()) return;
    const bool opens =
        next && (std::holds_alternative<Introduction>(**next) || std::holds_alternative<Reconnect>(**next));
    const bool stops = next && waits_ && std::holds_alternative<StopAsked>(**next);
    const bool expected = next && opens != introduced_ && (stay_ || !introduced_ || stops);
    if (!expected) {
      link_->abandon();
      return leave(next ? Error(ErrorKind::Protocol, "it sent a message out of turn") : next.error());
    }
    if (stay_) stay_->conversation.add_received(reader_.size());
    std::visit([this](const auto& m) { handle(m); }, **next);
    if (!stay_ || broken_) continue;
    if (const std::optional<std::uint64_t> received = stay_->conversation.receipt(Clock::now()))
      send(Acknowledge{*received});
  }
}

void Peer::handle(const Introduction& m) {
  introduced_ = true;
  reconnect_limit_ = reconnect_limit(Clock::now() - called_at_, longest_);
  owner_.peer_introduces(*this, m);
}

void Peer::handle(const Reconnect& m) {
  introduced_ = true;
  reconnect_limit_ = reconnect_limit(Clock::now() - called_at_, longest_);
  owner_.peer_reconnects(*this, m);
}

void Peer::handle(const Acknowledge& m) {
  if (stay_->conversation.acknowledge(m.bytes)) return;
  link_->abandon();
  leave(Error(ErrorKind::Protocol, "it acknowledged more than was sent"));
}

void Peer::handle(const Bytes& m) {
  if (transport::TransportEvents* to = stay_->slot->events) to->transport_bytes(m.bytes);
}

void Peer::handle(const AgentEnded& m) { stay_->slot->send_end(Error(kind_of(m), show(m.text, 2000))); }

void Peer::handle(const StopAsked& m) {
  if (is_stop(m.signo)) owner_.peer_stops(stay_ ? stay_->host : "the host at " + ends_.far, m.signo);
}

// ---- end of the connection

// A peer that has acknowledged everything after finish() has left; any other peer with a place may reconnect.
void Peer::link_closed(const Error& why) {
  const bool may_return = stay_ && !(stay_->finishing && stay_->conversation.all_acknowledged());
  if (!may_return) return leave(why);
  broken_ = true;
  owner_.peer_disconnected(*this);
  reconnect_timer_.expires_after(reconnect_limit_);
  reconnect_timer_.async_wait([this, weak = weak_from_this(), why](boost::system::error_code error) {
    const std::shared_ptr<Peer> self = weak.lock();
    if (!error && self && !gone_) leave(why);
  });
}

void Peer::leave(const Error& why) {
  gone_ = true;
  if (!broken_) owner_.peer_disconnected(*this);
  if (stay_) {
    stay_->slot->peer = nullptr;
    stay_->slot->send_end(Error(ErrorKind::Lost, "its sml-run has gone: " + why.message()));
  } else if (!introduced_) {
    owner_.unknown_peer_left(*this, why);
  }
  owner_.peer_is_gone(*this);
}

}  // namespace sml::dialin
