// Waits in the loop. Each kind of handler that Asio itself is given costs the agent 2 KB of code, one of these a tenth
// of that; what waits for every piece of output or every message speaks to Asio directly.
#pragma once
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace sml::agent {

// One thread. Handlers are called once, from the loop, and not at all where the wait is cancelled or fails.
using Handler = std::function<void()>;

void when_readable(boost::asio::posix::stream_descriptor& descriptor, Handler handler);
void when_writable(boost::asio::posix::stream_descriptor& descriptor, Handler handler);
void when_due(boost::asio::steady_timer& timer, Handler handler);
// As soon as what is running now has returned.
void soon(boost::asio::io_context& loop, Handler handler);

}  // namespace sml::agent
