// --check: what a job would find. Connects to its hosts as the job would, or lets them call, lets the agents say what
// their hosts are like and try the address of rank 0's host, and starts nothing.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/plan/launch_plan.h"
#include "common/supervise/agent_clock.h"
#include "launcher/dialin/head.h"
#include "launcher/job/check_machine.h"
#include "launcher/job/rank_logs.h"
#include "launcher/job/rendezvous.h"
#include "launcher/job/session_routes.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/agent_session.h"
#include "launcher/options/job_options.h"
#include "launcher/report/check_report.h"

namespace sml::job {

class Check final : private launch::SessionOwner {
 public:
  using Say = std::function<void(const std::string&)>;

  // What is given outlives the check. `dial_in`: the hosts call, and are told what judge() says of the report. `say`
  // tells people of callers.
  Check(const JobOptions& options, const plan::LaunchPlan& plan, const launch::AgentImage& image, const RankLogs& logs,
        std::optional<dialin::HeadPlan> dial_in, Say say);
  ~Check() override;

  // Uses this thread as loop thread. Leave by _Exit() afterwards, as after Job::run(). Error (Internal): hosts cannot
  // be let in.
  Result<report::CheckReport> run();

 private:
  struct HostEntry {
    std::unique_ptr<launch::AgentSession> session;
    report::HostCheck found;
    std::vector<std::string> own_addresses, chosen_addresses;
    std::string machine;     // by which its agent knows it
    std::uint16_t port = 0;  // that it has reserved for the others to try
    bool prepared = false;
    std::optional<wire::Inspected> inspected;
    std::uint32_t pongs = 0;
    supervise::AgentClock clock;
    std::optional<HostProbe> probe;  // its answer
    bool dismissed = false;          // its end is no news
  };

  // SessionOwner
  void session_introduced(launch::AgentSession& session) override;
  void session_ready(launch::AgentSession& session, const wire::Prepared& message) override;
  void session_message(launch::AgentSession& session, wire::ToLauncher message) override;
  void session_ended(launch::AgentSession& session, const Error* why) override;

  void handle(HostEntry& host, const wire::HelloAck& m);
  void handle(HostEntry& host, const wire::Pong& m);
  void handle(HostEntry& host, wire::Inspected& m);
  void handle(HostEntry& host, const wire::Probed& m);
  void handle(HostEntry& host, const wire::Bye& m);
  template <class Message>
  void handle(HostEntry&, const Message&) {}

  Result<void> open_to_hosts();
  void tell_hosts(const report::Verdict& verdict);
  void make_sessions();
  void tell(CheckEvent event);
  void perform(CheckAction action);
  void ping(HostEntry& host);
  void ping_all();
  void look_round();  // has everybody answered?
  void time_out();
  void miss(HostIndex host);
  void probe_all();
  void judge_probes();
  void take_address(const std::vector<HostProbe>& probes);
  void dismiss_all();
  void arm_deadline();
  void await_signals();
  void stop(int signo);
  void measure_clock(HostEntry& host) const;
  report::CheckReport report();
  std::vector<HostAddresses> known_addresses() const;
  HostEntry& entry(const launch::AgentSession& session);
  bool has_answered(const HostEntry& host) const;

  const JobOptions& options_;
  const plan::LaunchPlan& plan_;
  const launch::AgentImage& image_;
  const RankLogs& logs_;
  boost::asio::io_context loop_{1};
  Say say_;
  std::optional<dialin::HeadPlan> dial_in_;  // until the check runs
  SessionRoutes routes_;
  std::unique_ptr<dialin::Head> head_;  // null: the hosts are reached
  boost::asio::signal_set signals_;
  boost::asio::steady_timer deadline_timer_;
  boost::asio::steady_timer ping_timer_;
  CheckMachine machine_;
  std::vector<HostEntry> hosts_;           // those with ranks, in host order; rank 0 is on the first
  std::vector<report::HostCheck> absent_;  // those without ranks that should have called
  std::vector<std::string> candidates_;
  std::string master_address_;
  std::optional<int> stop_signal_;
};

}  // namespace sml::job
