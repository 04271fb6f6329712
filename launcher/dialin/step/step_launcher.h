// A batch system's starter starts this program on the hosts, and that calls the launcher: for starters that give no
// pipe, and for many hosts, for which one call of the starter is enough.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/dialin/step/step_calls.h"
#include "launcher/transport/starter_launcher.h"

namespace sml::dialin {

class StepLauncher final : public transport::StarterLauncher {
 public:
  StepLauncher(boost::asio::any_io_executor loop, const transport::AgentImage& image, const Hosts& hosts,
               const starters::Starter& starter, std::vector<std::string> environment);

  // Error (Deploy or Io): there is no tool or no secret, or the port cannot be opened.
  Result<void> open(Events events) override;
  void know(const plan::Host& host) override;
  [[nodiscard]] bool tell_end(const transport::RunEnd& end, std::function<void()> told) override;
  void close() override;

 private:
  std::unique_ptr<transport::AgentTransport> log_in(const plan::Host& host, const std::string& script) override;
  std::unique_ptr<transport::AgentTransport> start_step(std::vector<std::string> hosts, std::vector<std::string> words);

  std::vector<std::string> names_;
  std::string file_;       // this program
  std::string key_entry_;  // of the environment of the step; empty: the hosts have the secret
  std::shared_ptr<StepCalls> calls_;
};

}  // namespace sml::dialin
