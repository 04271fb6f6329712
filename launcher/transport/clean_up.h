// After a job: reaches hosts again on which an agent and its guardian were killed at once, and ends what the job has
// left there.
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
  // `image` and `agent_launcher` outlive this. `print` gets one sentence for each host on which something was ended or
  // could not be; nothing that happens here changes the job's outcome.
  CleanUp(boost::asio::io_context& loop, const AgentImage& image, AgentLauncher& agent_launcher,
          std::function<void(const std::string&)> print);

  // Runs the loop until all hosts have answered, for 15 seconds at most, or until the loop is stopped. Each plan has
  // end_left.
  void run(std::vector<AgentSession::Plan> hosts);

 private:
  void session_introduced(AgentSession&) override {}
  void session_ready(AgentSession&, const wire::Prepared&) override {}
  void session_message(AgentSession& session, wire::ToLauncher message) override;
  void session_ended(AgentSession& session, const Error* why) override;

  boost::asio::io_context& loop_;
  const AgentImage& image_;
  AgentLauncher& agent_launcher_;
  std::function<void(const std::string&)> print_;
  std::vector<std::unique_ptr<AgentSession>> sessions_;
  std::size_t awaited_ = 0;
};

}  // namespace sml::transport
