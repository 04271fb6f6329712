// Agent launcher for which a batch system's starter starts this program on the hosts, and that program calls the
// launcher. For starters that give no pipe to a host, and for jobs of many hosts, for which one call of the starter is
// enough.
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

  // Opens the port. Error: the starter's tool or the secret is missing (Deploy), this program's file is gone (Config),
  // the port cannot be opened (Io), or the crypto library fails (Internal).
  Result<void> open(Events events) override;
  void add_host(const plan::Host& host) override;
  // Dismisses the hosts, and does not send them the outcome.
  [[nodiscard]] bool send_end(const transport::RunEnd& end, std::function<void()> done) override;
  void close() override;

 private:
  std::unique_ptr<transport::AgentTransport> log_in(const plan::Host& host, const std::string& script) override;
  std::unique_ptr<transport::AgentTransport> start_step(std::vector<std::string> hosts, std::vector<std::string> words);

  std::vector<std::string> names_;  // of the hosts, by HostId
  std::string file_;                // the path of this program
  std::string key_entry_;  // NAME=VALUE with the secret, for the environment of the step; empty: the hosts have it
  std::shared_ptr<StepCalls> calls_;  // null: before open(), or after close()
};

}  // namespace sml::dialin
