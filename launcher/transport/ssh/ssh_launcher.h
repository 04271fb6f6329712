// The agent launcher for hosts that are reached by SSH, with the built-in client (libssh).
#pragma once
#include "launcher/transport/remote_shell_launcher.h"
#include "launcher/transport/ssh/ssh_options.h"

namespace sml::ssh {

class SshLauncher final : public transport::RemoteShellLauncher {
 public:
  // `image` and `options` outlive this.
  SshLauncher(boost::asio::any_io_executor loop, const transport::AgentImage& image, Hosts hosts,
              const SshOptions& options);

 private:
  std::unique_ptr<transport::AgentTransport> log_in(const plan::Host& host, const std::string& script) override;

  const SshOptions& options_;
};

}  // namespace sml::ssh
