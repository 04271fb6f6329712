#include "launcher/transport/session/resumable_link.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>

#include "common/os/random.h"
#include "common/wire/codec.h"
#include "launcher/transport/session/agent_arrival.h"

namespace sml::transport {

namespace {

constexpr Duration kPause = std::chrono::milliseconds(100);  // between two tries
constexpr Duration kOnTheWay = std::chrono::milliseconds(500);
// Input is bounded by the agent's credit, and Prepare comes once. If the agent asks for bytes that are no longer kept,
// the link cannot go on.
constexpr std::size_t kMostKept = std::size_t{24} << 20;

}  // namespace

std::string make_mark() {
  const std::string noise = os::random_hex(8);
  if (noise.empty()) throw std::runtime_error("the system gives no random bytes");
  return "sml" + noise;
}

ResumableLink::ResumableLink(boost::asio::any_io_executor loop, const AgentImage& image, TransportEvents& events,
                             std::unique_ptr<AgentTransport> first, Again again)
    : loop_(std::move(loop)),
      image_(image),
      events_(events),
      again_(std::move(again)),
      secret_(again_ ? make_mark() + make_mark() : ""),
      now_(std::make_unique<Pipe>(*this, std::string(), std::move(first))),
      limit_(loop_),
      pause_(loop_) {}

ResumableLink::~ResumableLink() = default;

void ResumableLink::start() { now_->transport->start(*now_); }

void ResumableLink::send(std::string bytes) {
  if (counts_) {
    sent_.append(bytes);
    if (sent_.end() > kMostKept) sent_.forget(sent_.end() - kMostKept);
  }
  if (now_) now_->transport->send(std::move(bytes));
}

void ResumableLink::send_static(std::string_view bytes) { now_->transport->send_static(bytes); }

bool ResumableLink::far_side_ended() const { return agent_gone_ || (now_ && now_->transport->far_side_ended()); }

TimePoint ResumableLink::asked_at() const {
  return now_ ? std::max(asked_at_, now_->transport->reconnected_at()) : asked_at_;
}

// ---- the agreement of both ends

wire::Hello ResumableLink::greet(wire::Hello hello) {
  if (secret_.empty()) return hello;
  counts_ = true;
  silence_ = std::chrono::milliseconds(hello.heartbeat_timeout_ms);
  hold_ = std::chrono::milliseconds(hello.hold_ms);
  hello.return_secret = secret_;
  hello.guardian_hold_ms = now_->transport->sees_kills() ? hello.heartbeat_timeout_ms : hello.hold_ms;
  return hello;
}

void ResumableLink::agree(const wire::HelloAck& ack) {
  if (counts_ && !ack.reconnect_socket.empty()) {
    place_ = {ack.reconnect_socket, ack.pid};
    return;
  }
  counts_ = false;
  sent_.forget(sent_.end());
}

std::string ResumableLink::say_goodbye() {
  place_.reset();
  return wire::encode(wire::ToAgent(wire::Received{received_.count()}));
}

std::optional<std::string> ResumableLink::receipt() {
  const std::optional<std::uint64_t> due = place_ ? received_.receipt() : std::nullopt;
  if (!due) return std::nullopt;
  return wire::encode(wire::ToAgent(wire::Received{*due}));
}

// ---- events of the transports

void ResumableLink::step(const Pipe& pipe, std::string_view text) {
  if (&pipe == now_.get()) events_.transport_step(text);
}

void ResumableLink::is_local(const Pipe& pipe) {
  if (&pipe == now_.get()) return events_.transport_is_local();
  try_later();  // the host was not local before
}

void ResumableLink::opened(const Pipe& pipe, std::string_view local_address, std::string_view peer_address) {
  if (&pipe == now_.get()) events_.transport_open(local_address, peer_address);
}

void ResumableLink::came(Pipe& pipe, std::span<const char> bytes) {
  if (&pipe == now_.get()) {
    if (!asked_) next_.reset();  // the doubt was unfounded
    return deliver(bytes);
  }
  if (&pipe != next_.get()) return;
  pipe.greeting.feed(bytes);
  while (&pipe == next_.get()) {
    const Result<std::optional<wire::Greeting>> greeting = pipe.greeting.next();
    if (!greeting) return try_later();
    if (!greeting->has_value()) return;
    greeted(pipe, **greeting);
  }
}

// Skips bytes that the previous transport delivered after the new one had asked for them.
void ResumableLink::deliver(std::span<const char> bytes) {
  const auto again = static_cast<std::size_t>(std::min<std::uint64_t>(comes_twice_, bytes.size()));
  comes_twice_ -= again;
  const std::span<const char> fresh = bytes.subspan(again);
  if (counts_) received_.add(fresh.size());
  events_.transport_bytes(fresh);
}

void ResumableLink::closed(const Pipe& pipe, const Error& why) {
  if (&pipe == next_.get()) return try_later();
  if (&pipe != now_.get()) return;
  // An agent that has ended cannot go on; the killed process may be its guardian alone. That agent knows why its pipe
  // has ended, and waits as long as for a silent launcher: a log-in to a busy host may take much longer than the first.
  const bool ended = pipe.transport->far_side_ended();
  if (!place_ || (ended && !pipe.transport->far_side_killed())) return events_.transport_closed(why);
  broke(why, ended ? silence_ : hold_);
}

// ---- another transport

void ResumableLink::broke(Error why, Duration limit) {
  why_ = std::move(why);
  drop(std::move(now_));
  limit_.expires_after(limit + kOnTheWay);
  limit_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired() && why_) give_up(Error(*why_));
  });
  if (!next_) try_again();
}

// Deferred: its transport may be in the middle of a callback into this.
void ResumableLink::drop(std::unique_ptr<Pipe> pipe) {
  if (pipe) pipe->leave_link();
  boost::asio::post(loop_, [old = std::shared_ptr<Pipe>(std::move(pipe))] {});
}

void ResumableLink::doubt() {
  if (now_ && place_ && !next_) try_again();
}

void ResumableLink::try_again() {
  const std::string mark = make_mark();
  next_ = std::make_unique<Pipe>(*this, mark, again_(mark));
  next_->transport->start(*next_);
}

// While the previous transport exists, doubt() will be called again.
void ResumableLink::try_later() {
  drop(std::move(next_));
  asked_.reset();
  if (now_) return;
  pause_.expires_after(kPause);
  pause_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired() && why_ && !next_) try_again();
  });
}

void ResumableLink::greeted(Pipe& pipe, const wire::Greeting& greeting) {
  if (const auto* need = std::get_if<wire::NeedAgent>(&greeting)) {
    if (++times_sent_ > AgentArrival::kMaxFolders || need->architecture != image_.architecture()) return try_later();
    return pipe.transport->send_static(image_.bytes());
  }
  if (const auto* runs = std::get_if<wire::AgentRuns>(&greeting)) {
    if (runs->version != wire::kProtocolVersion) return try_later();
    return ask_to_reconnect();
  }
  if (const auto* resumed = std::get_if<wire::AgentResumed>(&greeting)) return resume(resumed->received);
  const bool late = asked_ != received_.count();  // the bytes that were asked for are no longer kept
  if (std::holds_alternative<wire::CannotDeploy>(greeting) || now_ || late) return try_later();
  agent_gone_ = true;
  give_up(Error(*why_));
}

void ResumableLink::ask_to_reconnect() {
  asked_ = received_.count();
  asked_at_ = Clock::now();
  next_->transport->send(
      wire::encode(wire::ReconnectRequest{next_->mark(), place_->reconnect_socket, place_->pid, secret_, *asked_}));
}

void ResumableLink::resume(std::uint64_t received) {
  if (!asked_ || !sent_.acknowledge(received) || !sent_.from(received)) {
    return give_up(Error(ErrorKind::Protocol, "broke the protocol: its agent resumed with missing data"));
  }
  limit_.cancel();
  pause_.cancel();
  why_.reset();
  times_sent_ = 0;
  comes_twice_ = received_.count() - *std::exchange(asked_, std::nullopt);
  drop(std::exchange(now_, std::move(next_)));
  if (sent_.size() > 0) now_->transport->send(std::string(*sent_.from(received)));
  const std::string bytes = now_->greeting.take_rest();
  deliver(bytes);  // last: the owner may destroy this
}

void ResumableLink::give_up(const Error& why) {
  limit_.cancel();
  pause_.cancel();
  place_.reset();
  drop(std::move(next_));
  why_.reset();
  events_.transport_closed(why);
}

}  // namespace sml::transport
