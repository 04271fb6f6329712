// How the hosts of a job are reached: not at all where they are this machine, else by SSH or --ssh-command; or they
// call.
#pragma once
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/dialin/head.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/agent_session.h"
#include "launcher/ssh/ssh_options.h"

namespace sml::job {

class SessionRoutes {
 public:
  // What is given outlives this, and this the sessions.
  SessionRoutes(boost::asio::any_io_executor loop, const SshOptions& options, const plan::LaunchPlan& plan,
                const launch::AgentImage& image);

  // From now on the hosts are not reached: all but this one call the head, which outlives the sessions.
  void be_called(dialin::Head& head) { head_ = &head; }
  launch::SessionRoute to(HostIndex index);
  // For what waits; made when it is first needed.
  boost::asio::thread_pool& pool();
  // After the last session. A name look-up that is still under way goes on, on a thread that nobody waits for: joining
  // it could take as long as a name server does.
  void leave();

 private:
  using Remote = decltype(launch::SessionRoute::remote);
  Remote remote(const plan::Host& host);

  boost::asio::any_io_executor loop_;
  const SshOptions& options_;
  const plan::LaunchPlan& plan_;
  const launch::AgentImage& image_;
  dialin::Head* head_ = nullptr;
  std::unique_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace sml::job
