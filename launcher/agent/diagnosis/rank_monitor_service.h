// Serves the rank monitor protocol of NVRx (NVIDIA Resiliency Extension) for the workers of this host: each gets a Unix
// socket of its own, to which it sends heartbeats and section changes. If a worker exceeds a time limit, this service
// reports that the rank has failed, and kills nothing. A worker that never connects is not watched.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/machines/monitor_machine.h"

namespace sml::agent {

class RankMonitorService final : public HostService {
 public:
  RankMonitorService(const ServiceContext& context, const plan::RankMonitor& limits, std::span<const Rank> ranks);

  // Makes the sockets, in the attempt's scratch folder: only the agent's user may enter it.
  Result<void> check(wire::Prepared& answer) override;
  plan::Environment variables(Rank rank) const override;
  void worker_ended(Rank rank, const ExitStatus& status) override;
  void end() override;
  void suspend() override;
  void resume() override;

 private:
  // One worker, and its connection if it has one.
  struct Watched {
    Watched(boost::asio::io_context& loop, Rank of, const plan::RankMonitor& limits)
        : rank(of), machine(limits), listener(loop), caller(loop) {}
    Rank rank;
    MonitorMachine machine;
    std::string path;  // of the socket
    boost::asio::posix::stream_descriptor listener;
    // The accepted connection. One at a time, as in NVRx: the next is accepted after this one has ended.
    boost::asio::posix::stream_descriptor caller;
    std::string received;   // bytes that are not handled yet
    std::string answer;     // not empty: being sent, and nothing more is read until then
    std::size_t taken = 0;  // bytes of `answer` that have been sent
    enum class After { Listen, HangUp } after = After::Listen;  // once the answer is sent
  };

  Result<void> open_listener(Watched& worker);
  void accept(Watched& worker);
  void await(Watched& worker);
  void read(Watched& worker);
  void write(Watched& worker);
  void listen(Watched& worker);
  std::string answer_to(Watched& worker, std::string_view pickle);
  void refuse(Watched& worker, const std::string& why);
  void hang_up(Watched& worker);
  void close(Watched& worker);
  void arm();
  void look();

  const ServiceContext& context_;
  plan::RankMonitor limits_;
  std::vector<std::unique_ptr<Watched>> workers_;
  boost::asio::steady_timer timer_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
