// --ssh-command: a command that the user names starts the agent on each host. Where it is the tool of a starter, such
// as srun, it gets the options that it cannot do without, and the variables that it adds for its own step do not reach
// workers.
#pragma once
#include "launcher/transport/remote_shell_launcher.h"

namespace sml::transport {

// Only the command knows which machine a host name means, so hosts are the same only if their names are.
class CommandLauncher final : public RemoteShellLauncher {
 public:
  // `command`: see CommandTarget::command.
  CommandLauncher(boost::asio::any_io_executor loop, const AgentImage& image, Hosts hosts,
                  std::vector<std::string> command);

  // Prints a warning for each program of the command's name in PATH that is skipped, as other users may have put it
  // there. Error, only for a command that is named by its path: Config if other users may have put it there, Deploy if
  // there is no such file.
  Result<void> open(Events events) override;
  Sameness sameness() const override { return Sameness::OfNames; }
  Start start() const override { return Start::ByCommand; }

 private:
  std::unique_ptr<AgentTransport> log_in(const plan::Host& host, const std::string& script) override;

  std::vector<std::string> command_;
};

}  // namespace sml::transport
