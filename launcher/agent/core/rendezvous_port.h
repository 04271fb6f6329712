// The port for the rendezvous of the workers, on the host of rank 0: reserved until rank 0 takes it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/fd.h"
#include "common/wire/messages.h"

namespace sml::agent {

// Two sockets on one port, both with SO_REUSEADDR. `listener_` lets the other hosts probe the port before workers
// start. Then take_listener() takes it for a store of the agent, or stop_listening() closes it before workers may
// connect, since a connection to it would be cut off. `holder_` is bound but does not listen: a program that sets
// SO_REUSEADDR, as every server does, may still bind the port and listen, while the kernel assigns it to no other
// program. The destructor closes what is left of both.
class RendezvousPort {
 public:
  RendezvousPort() = default;
  RendezvousPort(std::uint16_t port, os::UniqueFd holder, os::UniqueFd listener)
      : holder_(std::move(holder)), listener_(std::move(listener)), port_(port) {}
  // Reserves a free port on all addresses of this host. With ServiceReach::ThisMachine the listener accepts connections
  // from this host only, to any of its addresses, and does not answer other hosts. Error (Io): no socket or port.
  static Result<RendezvousPort> reserve(wire::ServiceReach reach);
  std::uint16_t port() const { return port_; }
  void stop_listening() { listener_.reset(); }
  // Gives the caller the listening socket; empty if it has been taken or closed.
  os::UniqueFd take_listener() { return std::move(listener_); }

 private:
  os::UniqueFd holder_;
  os::UniqueFd listener_;
  std::uint16_t port_ = 0;
};

// Numeric addresses by which other hosts may reach this one, without loopback: first the one over which the launcher's
// SSH connection came in (SSH_CONNECTION), then those of the interfaces that are up. Link-local addresses: of IPv6
// none, those of IPv4 (169.254/16) last.
std::vector<std::string> own_addresses();

// Tries to connect to all addresses at once. Calls `answer` once, from the loop, with one result per address: when all
// have succeeded or failed, or after `timeout`, when the missing ones get ETIMEDOUT. The loop owns all state of the
// probe until then; it cannot be canceled.
void probe_addresses(boost::asio::io_context& loop, const std::vector<std::string>& addresses, std::uint16_t port,
                     Duration timeout, std::function<void(std::vector<wire::ProbeResult>)> answer);

}  // namespace sml::agent
