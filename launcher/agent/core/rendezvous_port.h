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
// start; then it is taken for a store of the agent, or closed by stop_listening() before workers may connect, since a
// connection to it would be cut off. `holder_` is bound but does not listen: programs that set SO_REUSEADDR, as every
// server does, may still bind and listen, while the kernel assigns the port to no other program.
class RendezvousPort {
 public:
  RendezvousPort() = default;
  RendezvousPort(std::uint16_t port, os::UniqueFd holder, os::UniqueFd listener)
      : holder_(std::move(holder)), listener_(std::move(listener)), port_(port) {}
  // With ThisMachine what comes over the network finds nothing; all addresses of this machine can be called from here.
  static Result<RendezvousPort> reserve(wire::ServiceReach reach);
  std::uint16_t port() const { return port_; }
  void stop_listening() { listener_.reset(); }
  os::UniqueFd take_listener() { return std::move(listener_); }

 private:
  os::UniqueFd holder_;
  os::UniqueFd listener_;
  std::uint16_t port_ = 0;
};

// Numeric addresses by which other hosts may reach this one, without loopback: first the one over which the launcher's
// SSH connection came in (SSH_CONNECTION), then those of the interfaces that are up.
std::vector<std::string> own_addresses();

// Tries to connect to all addresses at once; calls `answer` when all have succeeded or failed, or after `timeout`
// (ETIMEDOUT). The loop owns everything until then.
void probe_addresses(boost::asio::io_context& loop, const std::vector<std::string>& addresses, std::uint16_t port,
                     Duration timeout, std::function<void(std::vector<wire::ProbeResult>)> answer);

}  // namespace sml::agent
