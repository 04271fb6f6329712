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

boost::asio::thread_pool& SessionRoutes::pool() {
  if (!pool_) {
    const std::size_t hosts = plan_.map.hosts.size();
    pool_ = std::make_unique<boost::asio::thread_pool>(std::min<std::size_t>({options_.fanout, kMaxThreads, hosts}));
  }
  return *pool_;
}

launch::SessionRoute SessionRoutes::to(HostIndex index) {
  const plan::Host& host = plan_.map.hosts[index.value()].host;
  launch::SessionRoute route;
  if (head_ != nullptr && host.name != plan_.own_name) {
    route.dialled = [this, index](std::string mark) { return head_->make_transport(index, std::move(mark)); };
    return route;
  }
  // As we see our environment, which need not be how we were started.
  const plan::Environment environment = head_ != nullptr ? plan_.launcher_environment : plan::Environment();
  route.local = [this, environment](std::string mark) {
    return launch::make_local_transport(loop_, image_, std::move(mark), environment);
  };
  const bool is_own = host.user.empty() && !host.port && options_.user.empty() &&
                      (host.name == plan_.own_name || launch::is_own_name(host.name));
  if (head_ == nullptr && !is_own) route.remote = remote(host);
  return route;
}

SessionRoutes::Remote SessionRoutes::remote(const plan::Host& host) {
  boost::asio::thread_pool& threads = pool();
  const std::string user = host.user.empty() ? options_.user : host.user;
  if (!options_.command.empty()) {
    return [this, &threads, host, user](std::string remote_command) {
      return launch::make_command_transport(loop_, threads,
                                            {options_.command, host.name, user, std::move(remote_command), host.port});
    };
  }
  return [this, &threads, host](std::string remote_command) {
    return ssh::make_ssh_transport(loop_, threads, options_,
                                   {host.name, host.user, std::move(remote_command), host.port});
  };
}

void SessionRoutes::leave() {
  if (!pool_) return;
  pool_->stop();
  static_cast<void>(pool_.release());
}

}  // namespace sml::job
