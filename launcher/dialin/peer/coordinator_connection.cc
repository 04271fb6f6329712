#include "launcher/dialin/peer/coordinator_connection.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/post.hpp>

#include "common/core/text.h"
#include "launcher/dialin/port.h"
#include "launcher/transport/net/tcp_connect.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;

constexpr Duration kConnectLimit = std::chrono::seconds(10);
// For one attempt to reconnect: too short to wait for retransmissions of lost packets.
constexpr Duration kReturnLimit = std::chrono::seconds(1);
constexpr Duration kPause = std::chrono::milliseconds(100);
constexpr Duration kOnTheWay = std::chrono::milliseconds(500);

std::optional<names::Address> address_of_peer(int fd) {
  names::Address address;
  address.size = sizeof address.storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0) return std::nullopt;
  return address;
}

Result<std::vector<names::Address>> coordinator_addresses(const CoordinatorEndpoint& callee,
                                                          const std::optional<names::Address>& known) {
  if (known) return std::vector<names::Address>{*known};
  return names::addresses_of(callee.host, callee.port, AF_UNSPEC);
}

}  // namespace

// One TCP connection of a CoordinatorConnection.
class CoordinatorConnection::Way final : public LinkEvents {
 public:
  Way(CoordinatorConnection& call, std::shared_ptr<Link> made) : link(std::move(made)), call_(call) {}
  ~Way() override { link->abandon(); }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  void link_proved() override { call_.proved(*this); }
  void link_bytes(std::span<const char> bytes) override { call_.came(*this, bytes); }
  void link_closed(const Error& why) override { call_.closed(*this, why); }

  std::shared_ptr<Link> link;
  FrameReader<ToPeer> reader;

 private:
  CoordinatorConnection& call_;
};

CoordinatorConnection::CoordinatorConnection(std::shared_ptr<asio::io_context> loop, CoordinatorEndpoint callee,
                                             Duration heartbeat_timeout, Credentials& credentials,
                                             CoordinatorConnectionOwner& owner)
    : loop_(std::move(loop)),
      callee_(std::move(callee)),
      heartbeat_timeout_(heartbeat_timeout),
      credentials_(credentials),
      owner_(owner),
      limit_(*loop_),
      pause_(*loop_),
      watch_(*loop_) {}

CoordinatorConnection::~CoordinatorConnection() {
  cancel_->cancel();
  pool_->stop();
  if (dialling_) static_cast<void>(pool_.release());  // joining its thread could take as long as a name server does
}

// ---- called by the owner

void CoordinatorConnection::begin() {
  abandon();
  state_ = State::Made;
  conversation_ = {};
  reached_.reset();
  dial(kConnectLimit);
}

void CoordinatorConnection::introduce(const ToCoordinator& message) {
  if (now_) now_->link->send(encode(message));
}

void CoordinatorConnection::agree(const std::string& ticket) {
  ticket_ = ticket;
  state_ = State::Lasts;
  received_at_ = sent_at_ = Clock::now();
  watch();
}

void CoordinatorConnection::send(const ToCoordinator& message) {
  std::string frame = encode(message);
  conversation_.append(frame);
  sent_at_ = Clock::now();
  if (now_) now_->link->send(std::move(frame));
}

void CoordinatorConnection::say_goodbye() {
  send(Acknowledge{conversation_.received()});
  state_ = State::Ending;
  watch_.cancel();
}

void CoordinatorConnection::finish() {
  if (!now_) return abandon();
  state_ = State::Ending;
  watch_.cancel();
  now_->link->finish();
}

void CoordinatorConnection::abandon() {
  state_ = State::Over;
  limit_.cancel();
  pause_.cancel();
  watch_.cancel();
  drop(std::move(now_));
  drop(std::move(next_));
}

// ---- connecting

void CoordinatorConnection::dial(Duration limit) {
  dialling_ = true;
  dialled_at_ = Clock::now();
  asio::post(*pool_, [this, loop = loop_, cancel = cancel_, callee = callee_, known = reached_, limit] {
    auto answer = std::make_shared<Result<os::UniqueFd>>(os::UniqueFd());
    if (const auto addresses = coordinator_addresses(callee, known); addresses) {
      *answer = net::connect_to(*addresses, limit, *cancel);
    } else {
      *answer = addresses.error();
    }
    if (cancel->cancelled()) return;
    asio::post(*loop, [this, answer, cancel] {
      if (!cancel->cancelled()) dialled(std::move(*answer));
    });
  });
}

// Closes the new socket if it is no longer wanted.
void CoordinatorConnection::dialled(Result<os::UniqueFd> socket) {
  dialling_ = false;
  const bool doubts = state_ == State::Lasts && Clock::now() - received_at_ >= heartbeat_timeout_ / 2;
  if (state_ != State::Made && state_ != State::Broken && !doubts) return;
  const int fd = socket ? socket->get() : -1;
  if (socket) {
    net::leave_silence_to_user(fd, heartbeat_timeout_);
    peer_ = far_address(fd);
    reached_ = address_of_peer(fd);
  }
  Result<std::shared_ptr<Link>> link =
      socket ? make_link(loop_->get_executor(), std::move(*socket), credentials_) : socket.error();
  if (!link) return state_ == State::Made ? give_up(link.error()) : dial_later();
  std::unique_ptr<Way>& way = state_ == State::Made ? now_ : next_;
  way = std::make_unique<Way>(*this, std::move(*link));
  way->link->start(*way);
}

void CoordinatorConnection::proved(const Way& way) {
  if (&way == next_.get()) return send_reconnect();
  if (&way != now_.get()) return;
  took_ = Clock::now() - dialled_at_;
  owner_.call_is_proved();
}

void CoordinatorConnection::came(Way& way, std::span<const char> bytes) {
  received_at_ = Clock::now();
  if (&way == now_.get()) drop(std::move(next_));  // the connection works: no replacement needed
  way.reader.feed(bytes);
  while (&way == now_.get() || &way == next_.get()) {
    const Result<std::optional<ToPeer>> message = way.reader.next();
    if (!message) return closed(way, message.error());
    if (!message->has_value()) return;
    handle(way, **message, way.reader.size());
  }
}

void CoordinatorConnection::handle(Way& way, const ToPeer& message, std::size_t size) {
  if (&way == next_.get()) {
    if (const auto* m = std::get_if<Resumed>(&message)) return resume(m->received);
    if (std::holds_alternative<Refused>(message)) return give_up(why_);
    return closed(way, Error(ErrorKind::Protocol, "it sent a message out of turn"));
  }
  if (state_ == State::Made) return owner_.call_brings(message);
  conversation_.add_received(size);
  if (const auto* m = std::get_if<Acknowledge>(&message)) {
    if (!conversation_.acknowledge(m->bytes)) give_up(Error(ErrorKind::Protocol, "it acknowledged more than was sent"));
    return;
  }
  if (std::holds_alternative<Resumed>(message))
    return give_up(Error(ErrorKind::Protocol, "it sent a message out of turn"));
  owner_.call_brings(message);
  if (state_ != State::Lasts) return;
  if (const std::optional<std::uint64_t> received = conversation_.receipt(Clock::now())) send(Acknowledge{*received});
}

void CoordinatorConnection::closed(const Way& way, const Error& why) {
  if (&way == next_.get()) {
    drop(std::move(next_));
    return dial_later();
  }
  if (&way != now_.get()) return;
  if (state_ == State::Lasts) return broke(why);
  give_up(why);
}

// Destroys the connection later: its link may still be in a callback to this object.
void CoordinatorConnection::drop(std::unique_ptr<Way> way) {
  if (!way) return;
  way->link->abandon();
  asio::post(*loop_, [old = std::shared_ptr<Way>(std::move(way))] {});
}

// ---- after agree()

void CoordinatorConnection::broke(const Error& why) {
  why_ = why;
  state_ = State::Broken;
  drop(std::move(now_));
  limit_.expires_after(reconnect_limit(took_, heartbeat_timeout_) + kOnTheWay);
  limit_.async_wait([this, cancel = cancel_](boost::system::error_code error) {
    if (!error && !cancel->cancelled() && state_ == State::Broken) give_up(why_);
  });
  dial_again();
}

void CoordinatorConnection::dial_again() {
  if (!dialling_ && !next_) dial(std::max(kReturnLimit, 2 * took_));
}

// Retries after a pause if the connection has broken. If it is only silent, look() tries again.
void CoordinatorConnection::dial_later() {
  if (state_ != State::Broken) return;
  pause_.expires_after(kPause);
  pause_.async_wait([this, cancel = cancel_](boost::system::error_code error) {
    if (!error && !cancel->cancelled() && state_ == State::Broken) dial_again();
  });
}

// Drops the old connection first: bytes that still arrive on it would be received twice.
void CoordinatorConnection::send_reconnect() {
  if (state_ == State::Lasts) broke(Error(ErrorKind::Lost, "the connection is silent"));
  next_->link->send(encode(ToCoordinator(Reconnect{ticket_, conversation_.received()})));
}

void CoordinatorConnection::resume(std::uint64_t received) {
  const std::optional<std::string_view> unreceived = conversation_.unreceived(received);
  if (!unreceived) return give_up(Error(ErrorKind::Protocol, "it resumed without what had been sent to it"));
  limit_.cancel();
  pause_.cancel();
  state_ = State::Lasts;
  now_ = std::move(next_);
  sent_at_ = Clock::now();
  now_->link->send(std::string(*unreceived));
}

void CoordinatorConnection::give_up(const Error& why) {
  abandon();
  owner_.call_ends(why);
}

void CoordinatorConnection::watch() {
  const TimePoint now = Clock::now();
  const TimePoint doubt = std::max(received_at_ + heartbeat_timeout_ / 2, now + heartbeat_timeout_ / 10);
  watch_.expires_at(std::min({doubt, received_at_ + heartbeat_timeout_, sent_at_ + longest_pause(heartbeat_timeout_)}));
  watch_.async_wait([this, cancel = cancel_](boost::system::error_code error) {
    if (!error && !cancel->cancelled()) look();
  });
}

void CoordinatorConnection::look() {
  const TimePoint now = Clock::now();
  if (now >= received_at_ + heartbeat_timeout_) {
    return give_up(Error(ErrorKind::Lost, "nothing received for " + format_duration(heartbeat_timeout_)));
  }
  if (state_ == State::Lasts && now >= received_at_ + heartbeat_timeout_ / 2) dial_again();
  if (now >= sent_at_ + longest_pause(heartbeat_timeout_)) send(Alive{});
  watch();
}

}  // namespace sml::dialin
