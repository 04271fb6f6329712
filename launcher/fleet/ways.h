// The ways to the hosts of a run, and which of them it takes.
#pragma once
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/dialin/head.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/reach.h"
#include "launcher/ssh/ssh_options.h"

namespace sml::fleet {

// With `calls` the hosts call us. Host ids are the positions in the plan's list of hosts. `image` and `options` outlive
// what is made.
std::unique_ptr<launch::Reach> make_reach(const boost::asio::any_io_executor& loop, const launch::AgentImage& image,
                                          const plan::LaunchPlan& plan, const SshOptions& options,
                                          std::optional<dialin::HeadPlan> calls);

}  // namespace sml::fleet
