// A batch system's own starter starts the agent on each host, and gives it a pipe.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "launcher/starters/starter.h"
#include "launcher/transport/remote_shell_launcher.h"
#include "launcher/transport/starter_tool.h"

namespace sml::transport {

// A tool may depend on names that only its system knows.
class StarterLauncher : public RemoteShellLauncher {
 public:
  // `environment` is that of this process; `starter` is static.
  StarterLauncher(boost::asio::any_io_executor loop, const AgentImage& image, Hosts hosts,
                  const starters::Starter& starter, std::vector<std::string> environment);

  // Error (Deploy): there is no tool. Says which programs are passed over in PATH, as others may have put them there.
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
