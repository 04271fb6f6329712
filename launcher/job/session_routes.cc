#include "launcher/job/session_routes.h"

#include <algorithm>
#include <utility>

#include "launcher/launch/locality.h"
#include "launcher/launch/process_transport.h"
#include "launcher/ssh/ssh_transport.h"

namespace sml::job {

namespace {
constexpr std::uint32_t kMaxThreads = 64;
}

SessionRoutes::SessionRoutes(boost::asio::any_io_executor loop, const SshOptions& options, const plan::LaunchPlan& plan,
                             const launch::AgentImage& image)
    : loop_(std::move(loop)), options_(options), plan_(plan), image_(image) {}

launch::SessionRoute SessionRoutes::to(const plan::Host& host) {
  launch::SessionRoute route;
  route.local = [this](std::string mark) { return launch::make_local_transport(loop_, image_, std::move(mark)); };
  if (host.user.empty() && !host.port && options_.user.empty() &&
      (host.name == plan_.own_name || launch::is_own_name(host.name))) {
    return route;
  }
  if (!pool_) {
    const std::size_t hosts = plan_.map.hosts.size();
    pool_ = std::make_unique<boost::asio::thread_pool>(std::min<std::size_t>({options_.fanout, kMaxThreads, hosts}));
  }
  const std::string user = host.user.empty() ? options_.user : host.user;
  if (!options_.command.empty()) {
    route.remote = [this, host, user](std::string remote_command) {
      return launch::make_command_transport(loop_, *pool_,
                                            {options_.command, host.name, user, std::move(remote_command), host.port});
    };
  } else {
    route.remote = [this, host](std::string remote_command) {
      return ssh::make_ssh_transport(loop_, *pool_, options_,
                                     {host.name, host.user, std::move(remote_command), host.port});
    };
  }
  return route;
}

void SessionRoutes::leave() {
  if (!pool_) return;
  pool_->stop();
  static_cast<void>(pool_.release());
}

}  // namespace sml::job
