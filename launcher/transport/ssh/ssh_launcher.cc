#include "launcher/transport/ssh/ssh_launcher.h"

#include <utility>

#include "launcher/transport/ssh/ssh_transport.h"

namespace sml::ssh {

SshLauncher::SshLauncher(boost::asio::any_io_executor loop, const transport::AgentImage& image, Hosts hosts,
                         const SshOptions& options)
    : RemoteShellLauncher(std::move(loop), image, std::move(hosts)), options_(options) {}

std::unique_ptr<transport::AgentTransport> SshLauncher::log_in(const plan::Host& host, const std::string& script) {
  return make_ssh_transport(loop(), pool(), options_, {host.name, host.user, script, host.port});
}

}  // namespace sml::ssh
