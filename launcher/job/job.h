// One distributed job from the first connection to the exit status. Drives the sessions, the job machine and the
// console; decides nothing that they can decide.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/rank_table.h"
#include "launcher/dialin/head.h"
#include "launcher/fleet/address_search.h"
#include "launcher/fleet/fleet.h"
#include "launcher/job/console.h"
#include "launcher/job/job_machine.h"
#include "launcher/job/join_watch.h"
#include "launcher/job/progress_watch.h"
#include "launcher/job/records.h"
#include "launcher/job/stdin_forwarder.h"
#include "launcher/launch/agent_image.h"
#include "launcher/options/job_options.h"
#include "launcher/report/event_feed.h"
#include "launcher/report/job_report.h"
#include "launcher/report/verdict.h"

namespace sml::job {

class Job final : private fleet::FleetListener {
 public:
  // `options`, `plan` and `image` outlive the job.
  // `dial_in`: the other hosts call, and are told how it ends.
  Job(const JobOptions& options, const plan::LaunchPlan& plan, const launch::AgentImage& image, Records records,
      std::optional<dialin::HeadPlan> dial_in = std::nullopt);
  ~Job() override;

  // Runs the job to its end; answers the exit status of sml-run (design §3.4). Uses this thread as loop thread. A name
  // look-up may still be under way on a thread of the pool afterwards, and cannot be ended: leave by _Exit().
  int run();

  // Not empty: the hosts are fewer machines than the plan has them, so nothing was started, and what run() has answered
  // says nothing. Each list has the names of one machine. With --ssh-command it is the command that knows what a host
  // is.
  const std::vector<hosts::OneMachine>& machines() const { return machines_; }

 private:
  // What this run knows of one host.
  struct HostInfo {
    bool ready = false;
    bool started = false;  // its workers
    bool failed = false;
    bool released = false;      // we let it go; its end is no news
    std::uint64_t owed = 0;     // output bytes for which credit has not been given back
    std::string out_of_memory;  // evidence that belongs to the next worker killed there
    std::size_t remarks = 0;    // of its agent, that were shown
  };

  // FleetListener
  void host_introduced(fleet::Host& host) override;
  void host_prepared(fleet::Host& host, const wire::Prepared& message) override;
  void host_message(fleet::Host& host, wire::ToLauncher message) override;
  void host_step(const fleet::Host& host) override;
  void host_ended(fleet::Host& host, const Error* why) override;
  void hosts_pinged() override { name_slow_hosts(); }

  void handle(fleet::Host& host, const wire::HelloAck& m);
  void handle(fleet::Host& host, const wire::Probed& m);
  void handle(fleet::Host& host, const wire::Started& m);
  void handle(fleet::Host& host, const wire::Output& m);
  void handle(fleet::Host& host, const wire::ExitedWorker& m);
  void handle(fleet::Host& host, const wire::Drained& m);
  void handle(fleet::Host& host, const wire::AgentLog& m);
  void handle(fleet::Host& host, const wire::StdinCredit& m);
  void handle(fleet::Host& host, const wire::Cleared& m);
  void handle(fleet::Host& host, const wire::Bye& m);
  void handle(fleet::Host& host, const wire::ErrorFile& m);
  void handle(fleet::Host& host, const wire::OutOfMemory& m);
  void handle(fleet::Host& host, const wire::Joined& m);
  void handle(fleet::Host& host, const wire::AskVouch& m);
  void handle(fleet::Host& host, const wire::Vouched& m);
  void handle(fleet::Host& host, const wire::LogFailed& m);
  void handle(fleet::Host& host, const wire::PipeFailed& m);
  void handle(fleet::Host& host, const wire::MpiUse& m);
  void handle(fleet::Host&, const wire::Pong&) {}       // noted by the fleet
  void handle(fleet::Host&, const wire::Prepared&) {}   // comes as host_prepared
  void handle(fleet::Host&, const wire::Inspected&) {}  // nobody has asked
  void handle(fleet::Host&, const wire::LeftEnded&) {}  // nobody has asked
  void tell_bindings(const fleet::Host& host, const wire::Prepared& message);
  void note_mpi(fleet::Host& host, const wire::Prepared& message);
  void warn_of_lone_mpi(const std::string& host, const wire::MpiUse& use);
  void tell_of_secrets(const fleet::Host& host);

  void begin_records();
  void tell(JobEvent event);
  void perform(JobAction action);
  void probe_all();
  void finish_probing();
  void start_all();
  void stop_all();
  void kill_all();
  void time_out_start();
  void blame_unprobed();
  void give_up();
  void finish();

  void add_fault(HostIndex host, Error why);
  void fail_host(fleet::Host& host, Error why);
  TimePoint on_our_clock(const fleet::Host& host, std::uint64_t agent_ns) const;
  void check_settled();
  void look_for_machines();
  void enrol_readers();
  int conclude();
  int leave_unstarted();
  std::uint64_t credit_step(const fleet::Host& host) const;
  void give_credit();
  void output_gone(int sys_errno);
  void log_failed(const Error& why);
  void name_slow_hosts();
  void suspend();
  void write_report(const report::Verdict& verdict);
  bool wants_stdin(Rank rank) const;
  fleet::Host& host_of(Rank rank);
  void arm_deadline();
  void await_signals();
  void on_signal(int signo);
  void begin_progress();
  report::OutputFlow output_flow() const;
  void print_status(int signo);
  void stop_for_no_progress(report::NoProgress what);
  void say_while_running(const std::string& text);
  std::vector<std::string> job_addresses() const;
  void start_workers();
  std::vector<std::string> host_addresses() const;
  std::vector<wire::RankVariables> preset_variables(const fleet::Host& host, const plan::PresetFacts& facts) const;
  void release_servers();
  void release_stores();
  void arm_join_watch();
  void ask_who_has_joined();
  std::string leave_reason(const report::Verdict& verdict);
  void tell_hosts(const report::Verdict& verdict, std::string failure);
  launch::Reach::Events events_of_reach();
  void make_sessions();
  HostInfo& info(const fleet::Host& host) { return infos_[host.position]; }
  const HostInfo& info(const fleet::Host& host) const { return infos_[host.position]; }

  const JobOptions& options_;
  const plan::LaunchPlan& plan_;
  boost::asio::io_context loop_{1};
  boost::asio::signal_set signals_;
  boost::asio::steady_timer deadline_timer_;
  boost::asio::steady_timer join_timer_;
  Console console_;
  report::EventFeed events_;  // whatever happens, for those who record or show it
  ProgressWatch progress_;
  Records records_;
  StdinForwarder stdin_;
  JobMachine machine_;
  JoinWatch join_watch_;
  fleet::Fleet fleet_;
  std::vector<HostInfo> infos_;  // by position in the fleet
  std::optional<fleet::AddressSearch> search_;
  attempt::RankTable ranks_;
  report::Facts facts_;
  bool warned_of_logs_ = false;
  struct MpiFound {
    HostIndex host;
    wire::MpiUse use;
  };
  std::optional<MpiFound> mpi_found_;  // before the start, of the lowest rank
  bool warned_of_mpi_ = false;
  bool told_of_secrets_ = false;
  std::vector<hosts::OneMachine> machines_;
  std::string master_address_;
  std::uint16_t master_port_ = 0;
  std::uint16_t horovod_port_ = 0;
  std::vector<plan::PresetPort> preset_ports_;
  double started_unix_ = 0;
};

}  // namespace sml::job
