// After a job: connects again to hosts on which the agent and its guardian were killed at once, and ends the processes
// that the job has left there.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "launcher/transport/agent_image.h"
#include "launcher/transport/session/agent_session.h"

namespace sml::transport {

class CleanUp final : private SessionOwner {
 public:
  // `loop`, `image` and `agent_launcher` outlive this. `print` receives sentences about the hosts on which processes
  // were ended, could not be ended, or could not be looked for; they do not change the job outcome.
  CleanUp(boost::asio::io_context& loop, const AgentImage& image, AgentLauncher& agent_launcher,
          std::function<void(const std::string&)> print);

  // Blocks: runs the loop until all sessions have ended, for 15 seconds at most, or until the loop is stopped, as by a
  // stop of the user; a host that has not answered is named with that reason. Each plan must have `end_left`, as
  // AgentSession::plan_of_clean_up() makes it. No plan: does nothing.
  void run(std::vector<AgentSession::Plan> hosts);

 private:
  void session_greeted(AgentSession&) override {}
  void session_ready(AgentSession&, const wire::Prepared&) override {}
  void session_message(AgentSession& session, wire::ToLauncher message) override;
  void session_ended(AgentSession& session, const Error* why) override;

  boost::asio::io_context& loop_;
  const AgentImage& image_;
  AgentLauncher& agent_launcher_;
  std::function<void(const std::string&)> print_;
  std::vector<std::unique_ptr<AgentSession>> sessions_;
  std::size_t awaited_ = 0;  // sessions that have not ended
};

}  // namespace sml::transport
