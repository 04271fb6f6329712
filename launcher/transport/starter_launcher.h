// A batch system's own starter starts the agent on each host.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "common/os/trust.h"
#include "launcher/starters/starter.h"
#include "launcher/transport/remote_shell_launcher.h"

namespace sml::launch {

// The starter's tool: the first program of that name that may be run, see os::find_trusted_program(). Links of that
// name to this program itself, as --install-links makes them, do not count.
os::TrustedProgram find_tool(const starters::Starter& starter, std::span<const std::string> environment);

// A tool may depend on names that only its system knows.
class StarterLauncher final : public RemoteShellLauncher {
 public:
  // `environment` is that of this process; `starter` is static.
  StarterLauncher(boost::asio::any_io_executor loop, const AgentImage& image, Hosts hosts,
                  const starters::Starter& starter, std::vector<std::string> environment);

  // Error (Deploy): there is no tool. Says which programs are passed over in PATH, as others may have put them there.
  Result<void> open(Events events) override;
  Sameness sameness() const override { return Sameness::OfNames; }
  Start start() const override { return Start::ByStarter; }

 private:
  // The tool, and what it says of itself, once for all hosts.
  class Tool;

  std::unique_ptr<AgentTransport> log_in(const plan::Host& host, const std::string& script) override;

  const starters::Starter& starter_;
  std::vector<std::string> environment_;
  std::shared_ptr<Tool> tool_;
};

}  // namespace sml::launch
