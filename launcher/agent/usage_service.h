// How much of its host is in use while workers run: looked at once a second, told when it has changed or some time has
// passed. What each worker uses, when somebody asks.
#pragma once
#include <map>
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
  void worker_started(Rank rank, pid_t pid) override { pids_[rank] = pid; }
  void worker_ended(Rank rank, const ExitStatus&) override { pids_.erase(rank); }
  void hear(const wire::ToAgent& message) override;  // AskUse

 private:
  void look();
  void arm();

  const ServiceContext& context_;
  boost::asio::steady_timer timer_;
  std::vector<std::string> accelerators_;  // their folders
  HostUse told_;
  TimePoint told_at_;
  bool runs_ = false;
  std::map<Rank, pid_t> pids_;  // of the workers that run
};

}  // namespace sml::agent
