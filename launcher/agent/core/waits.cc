#include "launcher/agent/core/waits.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace sml::agent {

namespace {

using Descriptor = boost::asio::posix::stream_descriptor;

struct UnlessFailed {
  Handler handler;
  void operator()(boost::system::error_code error) const {
    if (!error) handler();
  }
};

void when(Descriptor& descriptor, Descriptor::wait_type ready, Handler handler) {
  descriptor.async_wait(ready, UnlessFailed{std::move(handler)});
}

}  // namespace

void when_readable(Descriptor& descriptor, Handler handler) {
  when(descriptor, Descriptor::wait_read, std::move(handler));
}

void when_writable(Descriptor& descriptor, Handler handler) {
  when(descriptor, Descriptor::wait_write, std::move(handler));
}

void when_due(boost::asio::steady_timer& timer, Handler handler) { timer.async_wait(UnlessFailed{std::move(handler)}); }

void soon(boost::asio::io_context& loop, Handler handler) { boost::asio::post(loop, std::move(handler)); }

}  // namespace sml::agent
