#include "launcher/agent/link/reconnect_socket.h"

#include <optional>
#include <utility>

#include <sys/socket.h>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/random.h"
#include "common/wire/codec.h"
#include "common/wire/resumable_stream.h"
#include "launcher/agent/core/waits.h"
#include "launcher/agent/link/reconnect_wire.h"

namespace sml::agent {

namespace {

constexpr int kBacklog = 16;
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);

// A random name, which no other process can have taken first. Knowing it is not enough to be accepted.
std::string fresh_name() {
  const std::string noise = os::random_hex(16);
  return noise.empty() ? noise : "sml-run-agent-" + noise;
}

std::optional<wire::ReconnectRequest> request_in(std::string_view frame) {
  wire::Decoder<wire::ToAgent> decoder;
  decoder.feed(frame);
  Result<std::optional<wire::ToAgent>> message = decoder.next();
  if (!message || !message->has_value()) return std::nullopt;
  auto* request = std::get_if<wire::ReconnectRequest>(&**message);
  return request == nullptr ? std::nullopt : std::optional(std::move(*request));
}

}  // namespace

ReconnectSocket::ReconnectSocket(boost::asio::io_context& loop, std::string secret, Taker taker)
    : listener_(loop), pause_(loop), caller_(loop), secret_(std::move(secret)), taker_(std::move(taker)) {
  os::UniqueFd socket = make_reconnect_socket();
  const std::string name = fresh_name();
  const ReconnectAddress at = reconnect_address(name);
  if (!socket || name.empty()) return;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at.address), at.size) != 0) return;
  if (::listen(socket.get(), kBacklog) != 0) return;
  listener_.assign(socket.release());
  listener_.non_blocking(true);
  name_ = name;
  accept();
}

void ReconnectSocket::accept() {
  when_readable(listener_, lifetime_.guard([this] {
    os::UniqueFd caller(::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC));
    if (caller) {
      let_in(std::move(caller));
      return accept();
    }
    pause_.expires_after(kAcceptPause);
    when_due(pause_, lifetime_.guard([this] { accept(); }));
  }));
}

// Replaces an earlier connection that has sent nothing yet.
void ReconnectSocket::let_in(os::UniqueFd caller) {
  if (peer_of_our_user(caller.get()) == 0) return;
  boost::system::error_code ignored;
  caller_.close(ignored);
  caller_.assign(caller.release());
  when_readable(caller_, lifetime_.guard([this] { read_caller(); }));
}

void ReconnectSocket::read_caller() {
  os::UniqueFd caller(caller_.release());
  std::optional<HandedOver> handed = take_over(caller.get());
  if (!handed) return;
  std::optional<wire::ReconnectRequest> request = request_in(handed->frame);
  if (!request || !wire::same_secret(request->secret, secret_)) return;
  if (!taker_({std::move(handed->ends[0]), std::move(handed->ends[1]), std::move(*request)})) return;
  (void)::send(caller.get(), &kTaken, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  helper_ = std::move(caller);  // ends the previous helper
}

void ReconnectSocket::say_goodbye() {
  if (helper_) (void)::send(helper_.get(), &kGoodbye, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace sml::agent
