#include "launcher/os/acceptor.h"

#include <utility>

#include <sys/socket.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"

namespace sml::os {

struct Acceptor::State {
  State(const boost::asio::any_io_executor& loop, UniqueFd socket, std::function<void(UniqueFd)> given)
      : listener(loop, socket.release()), timer(loop), came(std::move(given)) {}
  boost::asio::posix::stream_descriptor listener;
  boost::asio::steady_timer timer;
  std::function<void(UniqueFd)> came;
};

Acceptor::Acceptor(const boost::asio::any_io_executor& loop, UniqueFd listener, std::function<void(UniqueFd)> came)
    : state_(std::make_shared<State>(loop, std::move(listener), std::move(came))) {}

Acceptor::~Acceptor() {
  boost::system::error_code ignored;
  state_->listener.close(ignored);  // here, in case `came` destroys this: the state lives until it returns
}

void Acceptor::open() { await(state_); }

void Acceptor::await(const std::shared_ptr<State>& state) {
  state->listener.async_wait(
      boost::asio::posix::stream_descriptor::wait_read, [weak = std::weak_ptr(state)](boost::system::error_code error) {
        const auto alive = weak.lock();
        if (error || !alive) return;
        UniqueFd fd(::accept4(alive->listener.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!fd) return rest(alive);
        alive->came(std::move(fd));
        if (alive->listener.is_open()) await(alive);
      });
}

void Acceptor::rest(const std::shared_ptr<State>& state) {
  constexpr Duration kPause = std::chrono::milliseconds(100);
  state->timer.expires_after(kPause);
  state->timer.async_wait([weak = std::weak_ptr(state)](boost::system::error_code error) {
    const auto alive = weak.lock();
    if (!error && alive) await(alive);
  });
}

}  // namespace sml::os
