#include "launcher/transport/command_launcher.h"

#include <cerrno>
#include <utility>

#include <unistd.h>

#include "common/core/text.h"
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
  const std::string& program = command_.front();
  if (program.find('/') == std::string::npos) {
    const std::vector<std::string> files = os::program_candidates(program, os::own_search_path());
    for (const std::string& why : os::find_trusted_program(files).passed_over) events.print("warning: " + why);
  } else if (const Result<void> trusted = os::check_trust(program); !trusted) {
    if (::access(program.c_str(), F_OK) != 0) {
      return sys_error(ErrorKind::Deploy, "the other hosts cannot be reached: cannot start " + show(program), errno);
    }
    return Error(ErrorKind::Config, show(program) + " is not run to reach hosts, as " + trusted.error().message())
        .with_hint("name one that is yours or root's, in folders that nobody else can write");
  }
  return RemoteShellLauncher::open(std::move(events));
}

std::unique_ptr<AgentTransport> CommandLauncher::log_in(const plan::Host& host, const std::string& script) {
  const std::string& own_user = host.user.empty() ? user() : host.user;
  CommandTarget target{command_, host.name, own_user, script, host.port};
  const starters::Starter* starter = starters::starter_of_tool(command_.front());
  if (starter == nullptr) return make_command_transport(loop(), pool(), std::move(target));
  target.command.insert(target.command.begin() + 1, starter->options_in_command.begin(),
                        starter->options_in_command.end());
  target.remote_command = without_variables(script, starter->not_for_workers);
  return make_command_transport(loop(), pool(), std::move(target), starter->pipe);
}

}  // namespace sml::transport
