// Sends the launcher, at its request, what torch's flight recorders have recorded in the workers of this host: with
// NCCL through the pipe of the recorder, with other back ends from torch's worker server, if the worker's script runs
// one. A new request ends the pending one. If a worker fails, a dump that torch has written by itself is moved out of
// the scratch folder and kept.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/core/worker_server.h"
#include "launcher/agent/diagnosis/flight_recorder.h"
#include "launcher/agent/diagnosis/torch_places.h"

namespace sml::agent {

class RecordService final : public HostService {
 public:
  struct Member {
    Rank rank;
    TorchPlaces torch;
    bool runs = false;
  };
  RecordService(const ServiceContext& context, std::vector<Member> members);

  Result<void> check(wire::Prepared&) override { return {}; }
  void worker_started(Rank rank, pid_t pid) override;
  void worker_ended(Rank rank, const ExitStatus& status) override;
  void end() override { finish(); }
  void handle(const wire::ToAgent& message) override;

 private:
  // The recorder and the worker server of one worker that runs.
  struct Source {
    Source(boost::asio::io_context& loop, const Member& of)
        : member(of), server(loop), recorder(std::make_shared<FlightRecorder>(of.torch.pipe, of.torch.dump)) {}
    const Member& member;
    WorkerServer server;
    bool asks = false;                         // a request to the server is pending
    std::shared_ptr<FlightRecorder> recorder;  // not to be touched while its files are looked at, off the loop
  };

  bool records_here(const Member& member) const;
  void begin(const wire::AskRecorded& m);
  void ask_server(Source& source);
  void look();  // for dumps, then await_dumps()
  void await_dumps();
  bool awaits_dump(const Source& source) const { return source.recorder->awaited() && source.member.runs; }
  void send(const Member& member, const std::string& bytes);
  void finish();

  const ServiceContext& context_;
  std::vector<Member> members_;             // never resized, as sources refer to its elements
  std::optional<wire::AskRecorded> asked_;  // the pending request
  std::vector<std::unique_ptr<Source>> sources_;
  std::size_t sent_ = 0;  // bytes sent for the pending request
  TimePoint server_due_;  // the end of the time for answers of the servers
  boost::asio::steady_timer poll_;
  boost::asio::steady_timer limit_;  // the end of the time for the whole request
  Lifetime request_;                 // renewed for each request, and when it has been answered
};

}  // namespace sml::agent
