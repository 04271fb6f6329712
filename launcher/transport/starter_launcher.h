// --start-by: the starter's tool, called once for each host, starts the agent there and is the pipe to it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "launcher/starters/starter.h"
#include "launcher/transport/remote_shell_launcher.h"
#include "launcher/transport/starter_tool.h"

namespace sml::transport {

// Only the batch system may know which machine a host name means, so hosts are the same only if their names are.
class StarterLauncher : public RemoteShellLauncher {
 public:
  // `environment` is that of this process; `starter` is static.
  StarterLauncher(boost::asio::any_io_executor loop, const AgentImage& image, Hosts hosts,
                  const starters::Starter& starter, std::vector<std::string> environment);

  // Prints a warning for each program of the tool's name that is skipped, as other users may have put it there. Error
  // (Deploy): there is no tool.
  Result<void> open(Events events) override;
  Sameness sameness() const override { return Sameness::OfNames; }
  Start start() const override { return Start::ByStarter; }

 protected:
  std::unique_ptr<AgentTransport> log_in(const plan::Host& host, const std::string& script) override;
  const starters::Starter& starter() const { return starter_; }
  const std::vector<std::string>& environment() const { return environment_; }
  const std::shared_ptr<StarterTool>& tool() const { return tool_; }  // null before open()

 private:
  const starters::Starter& starter_;
  std::vector<std::string> environment_;
  std::shared_ptr<StarterTool> tool_;
};

}  // namespace sml::transport
