// How the hosts of a job are reached: not at all where they are this machine, else by SSH or --ssh-command.
#pragma once
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/agent_session.h"
#include "launcher/ssh/ssh_options.h"

namespace sml::job {

class SessionRoutes {
 public:
  // What is given outlives this, and this the sessions.
  SessionRoutes(boost::asio::any_io_executor loop, const SshOptions& options, const plan::LaunchPlan& plan,
                const launch::AgentImage& image);

  launch::SessionRoute to(const plan::Host& host);
  // After the last session. A name look-up that is still under way goes on, on a thread that nobody waits for: joining
  // it could take as long as a name server does.
  void leave();

 private:
  boost::asio::any_io_executor loop_;
  const SshOptions& options_;
  const plan::LaunchPlan& plan_;
  const launch::AgentImage& image_;
  std::unique_ptr<boost::asio::thread_pool> pool_;  // made when a host is not this machine
};

}  // namespace sml::job
