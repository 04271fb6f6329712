#include "launcher/launch/command_reach.h"

#include <utility>

#include "launcher/launch/process_transport.h"

namespace sml::launch {

CommandReach::CommandReach(boost::asio::any_io_executor loop, const AgentImage& image, Hosts hosts,
                           std::vector<std::string> command)
    : LoginReach(std::move(loop), image, std::move(hosts)), command_(std::move(command)) {}

std::unique_ptr<AgentTransport> CommandReach::log_in(const plan::Host& host, const std::string& script) {
  const std::string& own_user = host.user.empty() ? user() : host.user;
  return make_command_transport(loop(), pool(), {command_, host.name, own_user, script, host.port});
}

}  // namespace sml::launch
