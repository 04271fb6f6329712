#include "launcher/transport/remote_shell_launcher.h"

#include <utility>

#include "launcher/transport/locality.h"

namespace sml::transport {

RemoteShellLauncher::RemoteShellLauncher(boost::asio::any_io_executor loop, const AgentImage& image, Hosts hosts)
    : LocalLauncher(std::move(loop), image), hosts_(std::move(hosts)), threads_(hosts_.fanout) {}

// A host with an explicit user or port is to be reached by a log-in.
bool RemoteShellLauncher::is_ours(const plan::Host& host) const {
  if (!host.user.empty() || host.port || !hosts_.user.empty()) return false;
  return host.name == hosts_.own_name || is_own_name(host.name);
}

std::unique_ptr<AgentTransport> RemoteShellLauncher::transport(HostId host, const std::string&,
                                                               const std::string& script) {
  const plan::Host& there = hosts_.list[host.value()];
  return is_ours(there) ? nullptr : log_in(there, script);
}

}  // namespace sml::transport
