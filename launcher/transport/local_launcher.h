// The agent launcher for a job whose only host is this machine, and the common base of the other agent launchers. It
// starts the agent as a child process.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_launcher.h"

namespace sml::transport {

class LocalLauncher : public AgentLauncher {
 public:
  // `image` outlives this. `environment` replaces the launcher's environment for the agents, unless it is empty.
  LocalLauncher(boost::asio::any_io_executor loop, const AgentImage& image, std::vector<std::string> environment = {});

  Result<void> open(Events) override { return {}; }
  // Null: every host is this machine.
  std::unique_ptr<AgentTransport> transport(HostId, const std::string&, const std::string&) override { return nullptr; }
  std::unique_ptr<AgentTransport> local_transport(const std::string& mark) override;
  bool send_end(const RunEnd&, std::function<void()>) override { return false; }

 protected:
  const boost::asio::any_io_executor& loop() const { return loop_; }

 private:
  boost::asio::any_io_executor loop_;
  const AgentImage& image_;
  std::vector<std::string> environment_;
};

}  // namespace sml::transport
