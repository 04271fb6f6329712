#include "launcher/transport/local_launcher.h"

#include <utility>

#include "launcher/transport/process_transport.h"

namespace sml::transport {

LocalLauncher::LocalLauncher(boost::asio::any_io_executor loop, const AgentImage& image,
                             std::vector<std::string> environment)
    : loop_(std::move(loop)), image_(image), environment_(std::move(environment)) {}

std::unique_ptr<AgentTransport> LocalLauncher::local_transport(const std::string& mark) {
  return make_local_transport(loop_, image_, mark, environment_);
}

}  // namespace sml::transport
