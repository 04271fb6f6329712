#include "launcher/fleet/ways.h"

#include <utility>

#include "launcher/dialin/call_reach.h"
#include "launcher/launch/command_reach.h"
#include "launcher/ssh/ssh_reach.h"

namespace sml::fleet {

std::unique_ptr<launch::Reach> make_reach(const boost::asio::any_io_executor& loop, const launch::AgentImage& image,
                                          const plan::LaunchPlan& plan, const SshOptions& options,
                                          std::optional<dialin::HeadPlan> calls) {
  if (calls) {
    return std::make_unique<dialin::CallReach>(loop, image, std::move(*calls), plan.launcher_environment,
                                               options.fanout);
  }
  launch::LoginReach::Hosts hosts{
      .list = {}, .own_name = plan.own_name, .user = options.user, .fanout = options.fanout};
  for (const plan::MappedHost& mapped : plan.map.hosts) hosts.list.push_back(mapped.host);
  if (!options.command.empty()) {
    return std::make_unique<launch::CommandReach>(loop, image, std::move(hosts), options.command);
  }
  return std::make_unique<ssh::SshReach>(loop, image, std::move(hosts), options);
}

}  // namespace sml::fleet
