// Reports the utilization of the host while workers run: measures it once a second, and sends it if it has changed or
// was last sent 10 seconds ago. Also replies to the launcher's questions about running workers and what they use.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "common/os/side_thread.h"
#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/diagnosis/gpu_query.h"
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
  void worker_started(Rank rank, pid_t pid) override {
    workers_.insert_or_assign(rank, Worker{pid, os::FamilyUse(pid)});
  }
  void worker_ended(Rank rank, const ExitStatus&) override { workers_.erase(rank); }
  void handle(const wire::ToAgent& message) override;
  bool process_ended(pid_t pid, const ExitStatus&) override { return gpus_.ended(pid); }

 private:
  // Sends the Reply that `fill` completes, or one with its defaults if no worker runs. `worker`: the folder of a
  // running worker in /proc. Each kind of Reply has its own thread, as a file system may take any time to answer; while
  // `fill` blocks, further questions of this kind get no reply.
  template <class Reply>
  void reply_off_loop(const typename Reply::Answers& question, void (*fill)(const std::string& worker, Reply& reply));
  void tick();
  void look();
  void arm();

  const ServiceContext& context_;
  boost::asio::steady_timer timer_;
  std::vector<std::string> accelerators_;  // folders of accelerators that report in files
  GpuQuery gpus_;                          // NVIDIA's
  HostUse sent_;                           // the values sent last
  TimePoint sent_at_;                      // when they were sent
  bool runs_ = false;                      // between start() and end()
  struct Worker {
    pid_t pid;
    os::FamilyUse family;
  };
  std::map<Rank, Worker> workers_;                      // the running ones
  std::map<std::string_view, os::SideThread> threads_;  // of reply_off_loop(), by the name of the reply
  std::set<std::string_view> blocked_;                  // the replies whose `fill` has not returned
  Lifetime lifetime_;
};

}  // namespace sml::agent
