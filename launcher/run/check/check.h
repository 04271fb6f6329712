// --check: reports whether a job would start, without starting a worker. Connects to the hosts as the job would, or
// lets them call; collects a description of each host from its agent; and has the other hosts probe the address of
// rank 0's host. Not an Attempt: a host that fails ends an attempt, but not a check, which looks at all the others.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/fleet/address_search.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"
#include "launcher/os/stop_rule.h"
#include "launcher/report/hosts/check_report.h"
#include "launcher/run/check/check_machine.h"
#include "launcher/run/rank_logs.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_launcher.h"
#include "launcher/transport/session/deadline_timer.h"

namespace sml::run {

class Check final : private fleet::FleetListener {
 public:
  using Print = std::function<void(const std::string&)>;

  // All arguments passed by reference must outlive the check. Hosts that call receive the outcome that report::judge()
  // derives from the report. `print` prints messages while the check runs.
  Check(boost::asio::io_context& loop, const JobOptions& options, const plan::LaunchPlan& plan,
        const transport::AgentImage& image, const RankLogs& logs,
        std::unique_ptr<transport::AgentLauncher> agent_launcher, Print print);
  ~Check() override;

  // Runs the loop on the calling thread until the check is over; call it once. The process must end by _Exit()
  // afterwards, as after Run::run(). Error (Internal): the launcher cannot accept connections from hosts. A host that
  // fails is no error, but a part of the report.
  Result<report::CheckReport> run();

 private:
  // One host. It has answered once it is prepared, inspected, and has replied to all pings.
  struct Findings {
    report::HostCheck found;
    bool prepared = false;
    std::optional<wire::Inspected> inspected;
    std::uint32_t pongs = 0;
    bool dismissed = false;  // the end of its session is expected, and no fault
  };

  // FleetListener
  void host_introduced(fleet::Host& host) override;
  void host_prepared(fleet::Host& host, const wire::Prepared& message) override;
  void host_message(fleet::Host& host, wire::ToLauncher message) override;
  void host_ended(fleet::Host& host, const Error* why) override;

  void handle(fleet::Host& host, const wire::Pong& m);
  void handle(fleet::Host& host, wire::Inspected& m);
  void handle(fleet::Host& host, const wire::Probed& m);
  void handle(fleet::Host& host, const wire::Bye& m);
  void handle(fleet::Host& host, const wire::AgentLog& m);
  template <class Message>
  void handle(fleet::Host&, const Message&) {}

  transport::AgentLauncher::Events launcher_events();
  void make_sessions();
  void dispatch(CheckEvent event);
  void perform(CheckAction action);
  void look_round();  // checks whether all hosts have answered, and whether their probes are over
  void note_unanswered();
  void give_up_late();
  void probe_all();
  void evaluate_probes();
  void take_address(const fleet::ChosenAddress& chosen);
  void dismiss_all();
  void await_signals();
  void stop(std::string_view sender, int signo);
  report::CheckReport report();
  bool has_answered(const fleet::Host& host) const;
  bool all_answered() const;
  Findings& of(const fleet::Host& host) { return findings_[host.id]; }

  const JobOptions& options_;
  const plan::LaunchPlan& plan_;
  const RankLogs& logs_;
  boost::asio::io_context& loop_;
  Print print_;
  boost::asio::signal_set signals_;
  transport::DeadlineTimer deadline_timer_;
  CheckMachine machine_;
  fleet::Fleet fleet_;
  std::map<HostId, Findings> findings_;
  std::vector<report::HostCheck> absent_;  // hosts without ranks that have not called, or failed before they did
  std::optional<fleet::AddressSearch> search_;
  std::uint16_t port_ = 0;      // reserved by the first host, for the others to probe; 0: not known
  std::string master_address_;  // empty: not chosen yet, or none works
  os::StopRule stop_rule_;
  std::optional<int> stop_signal_;  // the first one
};

}  // namespace sml::run
