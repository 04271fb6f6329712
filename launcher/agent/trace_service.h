// Tells where the workers of this host are, when the launcher asks: what /proc says, what torch or else a tool of the
// host tells of their stacks, and what torch has recorded of them. Stops nobody, but by the tools that do so for a
// moment, where these are asked for.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "common/os/process_trace.h"
#include "launcher/agent/flight_recorder.h"
#include "launcher/agent/host_service.h"
#include "launcher/agent/tool_run.h"
#include "launcher/agent/torch_places.h"
#include "launcher/agent/worker_server.h"

namespace sml::agent {

class TraceService final : public HostService {
 public:
  struct Member {
    Rank rank;
    std::string folders;  // in which its tools are looked for, with colons between them
    TorchPlaces torch{};  // empty: it is not told of any
    pid_t pid = 0;        // 0: it does not run
  };
  TraceService(const ServiceContext& context, std::vector<Member> members);

  Result<void> check(wire::Prepared&) override { return {}; }
  void worker_started(Rank rank, pid_t pid) override { set_pid(rank, pid); }
  void worker_ended(Rank rank, const ExitStatus& status) override;
  plan::Environment variables(Rank rank) const override;
  void end() override { finish(); }
  void hear(const wire::ToAgent& message) override;
  bool process_ended(pid_t pid, const ExitStatus&) override;

 private:
  struct Look {  // at one worker
    Look(boost::asio::io_context& loop, const Member& of)
        : member(of), server(loop), recorder(of.torch.pipe, of.torch.dump), run(loop) {}
    const Member& member;
    ProcessTrace trace;
    WorkerServer server;
    enum class Asks : std::uint8_t { Nothing, Stacks, Recorded } asks = Asks::Nothing;  // the server
    FlightRecorder recorder;
    std::vector<std::string> command;  // of the tool; empty: there is none, or it is not needed any more
    ToolRun run;
    bool runs = false;
  };

  void set_pid(Rank rank, pid_t pid);
  bool records_here(const Member& member) const;
  void begin(const wire::AskTraces& m);
  void choose_tool(Look& look) const;
  void ask_torch(Look& look);
  void ask_for_recorded(Look& look);
  void hear_stacks(Look& look, std::optional<std::string> text);
  void stop_asking();
  void poll();
  void send_recorded(const Look& look, const std::string& bytes);
  void go_on();
  void run_tool(Look& look);
  void tell(Look& look, const std::string& fault);
  void finish();

  const ServiceContext& context_;
  std::deque<Member> members_;  // whose places do not move
  std::optional<wire::AskTraces> asked_;
  std::vector<std::unique_ptr<Look>> looks_;  // by those who have not ended
  std::size_t running_ = 0;
  std::size_t recorded_ = 0;  // bytes sent
  boost::asio::steady_timer limit_;
  TimePoint server_due_;
  boost::asio::steady_timer poll_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
