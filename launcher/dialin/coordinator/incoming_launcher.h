// Agent launcher of the coordinator, for jobs in which the hosts call it and start their agents themselves. It starts
// an agent only on the coordinator's own host.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/dialin/coordinator/coordinator.h"
#include "launcher/transport/blocking_threads.h"
#include "launcher/transport/local_launcher.h"

namespace sml::dialin {

class IncomingLauncher final : public transport::LocalLauncher {
 public:
  // `image` outlives this. `environment`: the environment of the agent on this host, which may differ from that of this
  // process. `fanout`: the maximum number of concurrent name look-ups.
  IncomingLauncher(boost::asio::any_io_executor loop, const transport::AgentImage& image, CoordinatorPlan plan,
                   std::vector<std::string> environment, std::uint32_t fanout);

  // Lets hosts in, or takes over CoordinatorPlan::opened, which does so already.
  Result<void> open(Events events) override;
  // Null for the coordinator's own host. `script` is ignored.
  std::unique_ptr<transport::AgentTransport> transport(HostId host, const std::string& mark,
                                                       const std::string& script) override;
  transport::PreLaunchTask* task_of(HostId host) override { return host == own_ ? task_ : nullptr; }
  std::vector<Missing> missing() const override;
  std::vector<Missing> refused() const override { return head_->refused(); }
  void add_host(const plan::Host& host) override { head_->add_place(host.name); }
  bool reaches_again(HostId host) const override { return host == own_; }
  Sameness sameness() const override { return Sameness::OfNames; }
  Start start() const override { return Start::ByHost; }
  [[nodiscard]] bool send_end(const transport::RunEnd& end, std::function<void()> done) override;
  void close() override;

 private:
  HostId own_;  // the coordinator's own host
  transport::PreLaunchTask* task_;
  transport::BlockingThreads threads_;
  std::optional<CoordinatorPlan> plan_;  // until open()
  std::shared_ptr<Coordinator> head_;    // after open()
};

}  // namespace sml::dialin
