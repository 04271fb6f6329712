// What an agent asks of its system, in the simulation: the processes and the network of its host, which are made up.
#pragma once
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <sys/types.h>

#include "launcher/agent/core/network.h"
#include "launcher/agent/core/processes.h"
#include "launcher/agent/guardian/guardian.h"

namespace sml::sim {

class AgentProcess;

class HostProcesses final : public agent::Processes {
 public:
  explicit HostProcesses(AgentProcess& of) : of_(of) {}

  std::variant<pid_t, SpawnFailed> start(const os::WorkerProcess& worker) override;
  void signal(pid_t pid, int signo) override;
  std::vector<pid_t> children() override;
  void reap(const Ended& ended) override;
  // Guardians have ended everything.
  agent::Leftovers end_leftovers(const wire::EndLeft&) override { return {}; }

 private:
  AgentProcess& of_;
};

// A guardian that never dies; the host ends what an agent leaves.
class Guardian final : public agent::Guard {
 public:
  Duration stand_still() const { return stand_still_; }

  bool is(pid_t) const override { return false; }
  void allow(std::chrono::milliseconds stand_still) override { stand_still_ = stand_still; }
  void look() override {}
  bool is_lost() const override { return false; }
  Result<void> replace() override { return {}; }

 private:
  Duration stand_still_ = std::chrono::seconds(30);
};

// Ports are numbers, and sockets of this machine at which nobody calls. It sees to it that those of one attempt are
// closed before the next reserves any.
class HostNetwork final : public agent::Network {
 public:
  explicit HostNetwork(AgentProcess& of) : of_(of) {}

  std::vector<std::string> own_addresses() override;
  Result<agent::RendezvousPort> reserve_port(wire::ServiceReach reach) override;
  void probe_addresses(boost::asio::io_context& loop, const std::vector<std::string>& addresses, std::uint16_t port,
                       Duration timeout, Probed answer) override;
  std::set<pid_t> groups_connected_to(std::uint16_t, const std::set<pid_t>&) override { return {}; }
  std::string interface_towards(const std::string&) override { return "eth0"; }
  std::vector<InterfaceAddress> interface_addresses() override { return {}; }

 private:
  struct Listener {
    std::uint32_t attempt;
    std::string name;  // of its socket
  };

  AgentProcess& of_;
  std::vector<Listener> listeners_;
  std::vector<os::UniqueFd> kept_;  // with a fault
};

}  // namespace sml::sim
