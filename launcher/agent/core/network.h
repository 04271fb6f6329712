// The interface by which an agent uses the network of its host for the workers. SystemNetwork asks the system;
// tests/simulation has an implementation of its own.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/interfaces.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/rendezvous_port.h"

namespace sml::agent {

// One thread: that of the loop. The headers that the comments name declare functions of the same names, which
// SystemNetwork calls.
class Network {
 public:
  virtual ~Network() = default;

  // rendezvous_port.h: this host's addresses; a free port that is kept for the workers; attempts to connect, whose
  // results `answer` gets from the loop.
  virtual std::vector<std::string> own_addresses() = 0;
  virtual Result<RendezvousPort> reserve_port(wire::ServiceReach reach) = 0;
  using Probed = std::function<void(std::vector<wire::ProbeResult>)>;
  virtual void probe_addresses(boost::asio::io_context& loop, const std::vector<std::string>& addresses,
                               std::uint16_t port, Duration timeout, Probed answer) = 0;
  // common/os/connections.h: those of `groups` that have a process with a connection to that port.
  virtual std::set<pid_t> groups_connected_to(std::uint16_t port, const std::set<pid_t>& groups) = 0;
  // route_interface.h: names and addresses of this host's network interfaces.
  virtual std::string interface_towards(const std::string& address) = 0;
  virtual std::vector<InterfaceAddress> interface_addresses() = 0;
};

// The network of this machine.
class SystemNetwork final : public Network {
 public:
  std::vector<std::string> own_addresses() override;
  Result<RendezvousPort> reserve_port(wire::ServiceReach reach) override;
  void probe_addresses(boost::asio::io_context& loop, const std::vector<std::string>& addresses, std::uint16_t port,
                       Duration timeout, Probed answer) override;
  std::set<pid_t> groups_connected_to(std::uint16_t port, const std::set<pid_t>& groups) override;
  std::string interface_towards(const std::string& address) override;
  std::vector<InterfaceAddress> interface_addresses() override;
};

}  // namespace sml::agent
