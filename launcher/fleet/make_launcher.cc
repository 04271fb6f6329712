#include "launcher/fleet/make_launcher.h"

#include <utility>

#include "common/os/spawn.h"
#include "launcher/dialin/coordinator/incoming_launcher.h"
#include "launcher/starters/starters.h"
#include "launcher/transport/command_launcher.h"
#include "launcher/transport/ssh/ssh_launcher.h"
#include "launcher/transport/starter_launcher.h"

namespace sml::fleet {

std::unique_ptr<launch::AgentLauncher> make_reach(const boost::asio::any_io_executor& loop,
                                                  const launch::AgentImage& image, const plan::LaunchPlan& plan,
                                                  const SshOptions& options,
                                                  std::optional<dialin::CoordinatorPlan> calls) {
  if (calls) {
    return std::make_unique<dialin::IncomingLauncher>(loop, image, std::move(*calls), plan.launcher_environment,
                                                      options.fanout);
  }
  launch::RemoteShellLauncher::Hosts hosts{
      .list = {}, .own_name = plan.own_name, .user = options.user, .fanout = options.fanout};
  for (const plan::MappedHost& mapped : plan.map.hosts) hosts.list.push_back(mapped.host);
  if (!options.command.empty()) {
    return std::make_unique<launch::CommandLauncher>(loop, image, std::move(hosts), options.command);
  }
  if (const starters::Starter* starter = starters::find_starter(plan.start.by)) {
    return std::make_unique<launch::StarterLauncher>(loop, image, std::move(hosts), *starter, os::own_environment());
  }
  return std::make_unique<ssh::SshLauncher>(loop, image, std::move(hosts), options);
}

}  // namespace sml::fleet
