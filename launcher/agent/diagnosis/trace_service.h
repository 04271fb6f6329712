// Reports at the launcher's request what the workers of this host are doing: what /proc shows, and their stacks, which
// come from torch's worker server or else from a tool of the host, such as py-spy or gdb. Some tools stop a worker for
// a moment; they are only used if the launcher allows it, and a worker gets SIGCONT after a tool that has failed. A new
// request ends the pending one.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/worker_server.h"
#include "launcher/agent/diagnosis/tool_run.h"
#include "launcher/agent/diagnosis/torch_places.h"
#include "launcher/agent/os/process_trace.h"

namespace sml::agent {

class TraceService final : public HostService {
 public:
  struct Member {
    Rank rank;
    std::string folders;  // in which tools are searched, separated by colons
    TorchPlaces torch{};  // empty paths: torch is not asked
    pid_t pid = 0;        // 0: not running
  };
  TraceService(const ServiceContext& context, std::vector<Member> members);

  Result<void> check(wire::Prepared&) override { return {}; }
  void worker_started(Rank rank, pid_t pid) override { set_pid(rank, pid); }
  void worker_ended(Rank rank, const ExitStatus&) override { set_pid(rank, 0); }
  plan::Environment variables(Rank rank) const override;
  void end() override { finish(); }
  void handle(const wire::ToAgent& message) override;
  bool process_ended(pid_t pid, const ExitStatus&) override;

 private:
  // The inspection of one running worker.
  struct Look {
    Look(boost::asio::io_context& loop, const Member& of) : member(of), server(loop), run(loop) {}
    const Member& member;
    ProcessTrace trace;
    WorkerServer server;
    bool asks = false;                 // a request to the worker server is pending
    std::vector<std::string> command;  // of the tool; empty: no tool is needed, or none can be used
    ToolRun run;
    bool runs = false;  // the tool runs
  };

  void set_pid(Rank rank, pid_t pid);
  void begin(const wire::AskTraces& m);
  void choose_tool(Look& look);
  void ask_torch(Look& look);
  void take_stacks(Look& look, std::optional<std::string> text);  // nullopt: torch sent none
  void stop_asking();
  void run_next();
  void run_tool(Look& look);
  void send_trace(Look& look, const std::string& fault);  // `fault` empty: no tool failed
  void finish();

  const ServiceContext& context_;
  std::deque<Member> members_;                // a deque, so that elements keep their addresses
  std::optional<wire::AskTraces> asked_;      // the pending request
  std::vector<std::unique_ptr<Look>> looks_;  // one for each running worker
  std::size_t running_ = 0;                   // number of tools that run
  std::set<std::string> passed_over_;         // reasons why tools were not used that have been reported
  boost::asio::steady_timer limit_;           // the time for the whole request
  boost::asio::steady_timer server_limit_;    // the time for torch's answers
  Lifetime request_;                          // renewed when a request has been answered
};

}  // namespace sml::agent
