// Chooses how the agents on the hosts of a job are started: makes the agent launcher that the plan asks for.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/dialin/coordinator/coordinator.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_launcher.h"
#include "launcher/transport/ssh/ssh_options.h"

namespace sml::fleet {

// `calls`: the settings for hosts that call; nullopt: the launcher reaches the hosts by the user's command, a starter
// or SSH. A host named `own_name` is this machine, as is one with a name that this machine has; empty: only that one.
// HostIds are the positions in the plan's list of hosts. Does not connect to a host. `image` and `options` outlive the
// result.
std::unique_ptr<transport::AgentLauncher> make_launcher(const boost::asio::any_io_executor& loop,
                                                        const transport::AgentImage& image,
                                                        const plan::LaunchPlan& plan, const std::string& own_name,
                                                        const SshOptions& options,
                                                        std::optional<dialin::CoordinatorPlan> calls);

// The number of descriptors that this launcher keeps open for each host.
std::uint32_t descriptors_per_host(const plan::LaunchPlan& plan, const SshOptions& options);

}  // namespace sml::fleet
