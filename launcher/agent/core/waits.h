// Waits in the loop. Each handler type that is passed to Asio itself costs the agent 2 KB of code; a call to one of
// these functions costs a tenth of that. Code that waits for every piece of output or every message calls Asio
// directly.
#pragma once
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace sml::agent {

// One thread. A handler is called once, from the loop, and not at all if the wait is cancelled or fails.
using Handler = std::function<void()>;

void when_readable(boost::asio::posix::stream_descriptor& descriptor, Handler handler);
void when_writable(boost::asio::posix::stream_descriptor& descriptor, Handler handler);
void when_due(boost::asio::steady_timer& timer, Handler handler);
// Calls `handler` from the loop, after the current handler has returned.
void soon(boost::asio::io_context& loop, Handler handler);

}  // namespace sml::agent
