// The base of agent launchers that start the agent in a login shell, one for each host. A host that is this machine
// gets no login shell: its agent is a child process.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/plan/machine/host.h"
#include "launcher/transport/blocking_threads.h"
#include "launcher/transport/local_launcher.h"

namespace sml::transport {

class RemoteShellLauncher : public LocalLauncher {
 public:
  struct Hosts {
    std::vector<plan::Host> list;  // by HostId
    std::string own_name;          // the name in `list` that means this machine, if not its host name; may be empty
    std::string user;              // for all hosts that name none; empty: each agent launcher has its own rule
    std::uint32_t fanout = 1;      // log-ins at the same time
  };
  // `image` outlives this.
  RemoteShellLauncher(boost::asio::any_io_executor loop, const AgentImage& image, Hosts hosts);

  std::unique_ptr<AgentTransport> transport(HostId host, const std::string& mark, const std::string& script) final;
  void add_host(const plan::Host& host) override { hosts_.list.push_back(host); }
  void close() override { threads_.abandon(); }

 protected:
  // Makes the transport that runs `script` in a login shell of that host.
  virtual std::unique_ptr<AgentTransport> log_in(const plan::Host& host, const std::string& script) = 0;
  const std::string& user() const { return hosts_.user; }
  boost::asio::thread_pool& pool() { return threads_.pool(hosts_.list.size()); }

 private:
  bool is_ours(const plan::Host& host) const;  // its name is this machine's, and no user or port asks for a log-in

  Hosts hosts_;
  BlockingThreads threads_;
};

}  // namespace sml::transport
