// Tells where the workers of this host are, when the launcher asks: what /proc says, and what torch or else a tool of
// the host tells of their stacks. Stops nobody, but by the tools that do so for a moment, where these are asked for.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "common/os/process_trace.h"
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
  void worker_ended(Rank rank, const ExitStatus&) override { set_pid(rank, 0); }
  plan::Environment variables(Rank rank) const override;
  void end() override { finish(); }
  void hear(const wire::ToAgent& message) override;
  bool process_ended(pid_t pid, const ExitStatus&) override;

 private:
  struct Look {  // at one worker
    Look(boost::asio::io_context& loop, const Member& of) : member(of), server(loop), run(loop) {}
    const Member& member;
    ProcessTrace trace;
    WorkerServer server;
    bool asks = false;                 // the server
    std::vector<std::string> command;  // of the tool; empty: there is none, or it is not needed any more
    ToolRun run;
    bool runs = false;
  };

  void set_pid(Rank rank, pid_t pid);
  void begin(const wire::AskTraces& m);
  void choose_tool(Look& look);
  void ask_torch(Look& look);
  void hear_stacks(Look& look, std::optional<std::string> text);
  void stop_asking();
  void go_on();
  void run_tool(Look& look);
  void tell(Look& look, const std::string& fault);
  void finish();

  const ServiceContext& context_;
  std::deque<Member> members_;  // whose places do not move
  std::optional<wire::AskTraces> asked_;
  std::vector<std::unique_ptr<Look>> looks_;  // by those who have not ended
  std::size_t running_ = 0;
  std::set<std::string> passed_over_;  // tools, and why; told
  boost::asio::steady_timer limit_;
  boost::asio::steady_timer server_limit_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
