// Chooses the way by which the hosts of a run are reached.
#pragma once
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/dialin/coordinator/coordinator.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_launcher.h"
#include "launcher/transport/ssh/ssh_options.h"

namespace sml::fleet {

// With `calls`, the hosts call the launcher. Host ids are the positions in the plan's list of hosts. `image` and
// `options` outlive the result.
std::unique_ptr<transport::AgentLauncher> make_launcher(const boost::asio::any_io_executor& loop,
                                                        const transport::AgentImage& image,
                                                        const plan::LaunchPlan& plan, const SshOptions& options,
                                                        std::optional<dialin::CoordinatorPlan> calls);

}  // namespace sml::fleet
