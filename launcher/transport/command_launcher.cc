#include "launcher/transport/command_launcher.h"

#include <utility>

#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/starters/starters.h"
#include "launcher/transport/bootstrap_script.h"
#include "launcher/transport/process_transport.h"

namespace sml::transport {

CommandLauncher::CommandLauncher(boost::asio::any_io_executor loop, const AgentImage& image, Hosts hosts,
                                 std::vector<std::string> command)
    : RemoteShellLauncher(std::move(loop), image, std::move(hosts)), command_(std::move(command)) {}

Result<void> CommandLauncher::open(Events events) {
  if (command_.front().find('/') == std::string::npos) {  // else it is the user's own choice
    const std::vector<std::string> files = os::program_candidates(command_.front(), os::own_search_path());
    for (const std::string& why : os::find_trusted_program(files).passed_over) events.print("warning: " + why);
  }
  return RemoteShellLauncher::open(std::move(events));
}

std::unique_ptr<AgentTransport> CommandLauncher::log_in(const plan::Host& host, const std::string& script) {
  const std::string& own_user = host.user.empty() ? user() : host.user;
  CommandTarget target{command_, host.name, own_user, script, host.port};
  const starters::Starter* starter = starters::starter_of_tool(command_.front());
  if (starter == nullptr) return make_command_transport(loop(), pool(), std::move(target));
  target.remote_command = without_variables(script, starter->not_for_workers);
  return make_command_transport(loop(), pool(), std::move(target), starter->pipe);
}

}  // namespace sml::transport
