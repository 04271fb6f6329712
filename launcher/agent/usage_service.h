// How much of its host is in use while workers run: looked at once a second, told when it has changed or some time has
// passed.
#pragma once
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "launcher/agent/host_service.h"

namespace sml::agent {

class UsageService final : public HostService {
 public:
  explicit UsageService(const ServiceContext& context);

  Result<void> check(wire::Prepared&) override;
  void start(const wire::Start&) override;
  void end() override;
  void suspend() override { timer_.cancel(); }
  void resume() override { arm(); }

 private:
  void look();
  void arm();

  const ServiceContext& context_;
  boost::asio::steady_timer timer_;
  std::vector<std::string> accelerators_;  // their folders
  HostUse told_;
  TimePoint told_at_;
  bool runs_ = false;
};

}  // namespace sml::agent
