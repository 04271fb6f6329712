// Reports the utilization of the host while workers run: looks once a second, and sends it if it has changed or some
// time has passed. Reports the usage of each worker on request.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "launcher/agent/core/host_service.h"
#include "launcher/agent/diagnosis/gpu_helper.h"
#include "launcher/agent/os/host_use.h"

namespace sml::agent {

class UsageService final : public HostService {
 public:
  explicit UsageService(const ServiceContext& context);

  Result<void> check(wire::Prepared&) override;
  void start(const wire::Start&) override;
  void end() override;
  void suspend() override { timer_.cancel(); }
  void resume() override { arm(); }
  void worker_started(Rank rank, pid_t pid) override { families_.insert_or_assign(rank, os::FamilyUse(pid)); }
  void worker_ended(Rank rank, const ExitStatus&) override { families_.erase(rank); }
  void hear(const wire::ToAgent& message) override;  // AskUse
  bool process_ended(pid_t pid, const ExitStatus&) override { return gpus_.ended(pid); }

 private:
  void tick();
  void look();
  void arm();

  const ServiceContext& context_;
  boost::asio::steady_timer timer_;
  std::vector<std::string> accelerators_;  // folders of accelerators that report in files
  GpuHelper gpus_;                         // NVIDIA's
  bool wants_gpus_ = false;
  HostUse told_;
  TimePoint told_at_;
  bool runs_ = false;
  std::map<Rank, os::FamilyUse> families_;  // of the running workers
};

}  // namespace sml::agent
