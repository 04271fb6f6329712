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

#include "common/hosts/aliases.h"
#include "common/plan/launch_plan.h"
#include "common/supervise/agent_clock.h"
#include "launcher/attempt/rank_table.h"
#include "launcher/dialin/head.h"
#include "launcher/job/console.h"
#include "launcher/job/job_machine.h"
#include "launcher/job/join_watch.h"
#include "launcher/job/progress_watch.h"
#include "launcher/job/records.h"
#include "launcher/job/rendezvous.h"
#include "launcher/job/session_routes.h"
#include "launcher/job/stdin_forwarder.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/agent_session.h"
#include "launcher/launch/clean_up.h"
#include "launcher/options/job_options.h"
#include "launcher/report/event_feed.h"
#include "launcher/report/job_report.h"
#include "launcher/report/verdict.h"

namespace sml::job {

class Job final : private launch::SessionOwner {
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
  // What is known of one host beyond its session.
  struct HostInfo {
    bool ready = false;
    bool started = false;  // its workers
    bool failed = false;
    bool released = false;  // we let it go; its end is no news
    supervise::AgentClock clock;
    wire::EndLeft traces;                           // by which its processes are found if the agent vanishes
    std::string machine;                            // by which its agent knows it
    std::vector<std::string> addresses;             // as its agent tells them
    std::vector<std::string> chosen_addresses;      // of the interfaces that the user asks for
    std::uint64_t owed = 0;                         // output bytes for which credit has not been given back
    std::optional<std::vector<std::string>> asked;  // the addresses that it was to probe
    std::optional<HostProbe> probe;                 // its answer
    std::string out_of_memory;                      // evidence that belongs to the next worker killed there
    std::size_t remarks = 0;                        // of its agent, that were shown
  };
  struct HostEntry {
    std::unique_ptr<launch::AgentSession> session;
    HostInfo info;
  };

  // SessionOwner
  void session_introduced(launch::AgentSession& session) override;
  void session_ready(launch::AgentSession& session, const wire::Prepared& message) override;
  void session_message(launch::AgentSession& session, wire::ToLauncher message) override;
  void session_step(const launch::AgentSession& session) override;
  void session_ended(launch::AgentSession& session, const Error* why) override;

  void handle(HostEntry& host, const wire::HelloAck& m);
  void handle(HostEntry& host, const wire::Pong& m);
  void handle(HostEntry& host, const wire::Probed& m);
  void handle(HostEntry& host, const wire::Started& m);
  void handle(HostEntry& host, const wire::Output& m);
  void handle(HostEntry& host, const wire::ExitedWorker& m);
  void handle(HostEntry& host, const wire::Drained& m);
  void handle(HostEntry& host, const wire::AgentLog& m);
  void handle(HostEntry& host, const wire::StdinCredit& m);
  void handle(HostEntry& host, const wire::Bye& m);
  void handle(HostEntry& host, const wire::ErrorFile& m);
  void handle(HostEntry& host, const wire::OutOfMemory& m);
  void handle(HostEntry& host, const wire::Joined& m);
  void handle(HostEntry& host, const wire::AskVouch& m);
  void handle(HostEntry& host, const wire::Vouched& m);
  void handle(HostEntry& host, const wire::LogFailed& m);
  void handle(HostEntry& host, const wire::PipeFailed& m);
  void handle(HostEntry& host, const wire::MpiUse& m);
  void handle(HostEntry&, const wire::Prepared&) {}   // comes as session_ready
  void handle(HostEntry&, const wire::Inspected&) {}  // nobody has asked
  void handle(HostEntry&, const wire::LeftEnded&) {}  // nobody has asked
  void tell_bindings(const HostEntry& host, const wire::Prepared& message);
  void note_mpi(HostEntry& host, const wire::Prepared& message);
  void warn_of_lone_mpi(const std::string& host, const wire::MpiUse& use);
  void tell_of_secrets(const launch::AgentSession& session);

  void begin_records();
  void tell(JobEvent event);
  void perform(JobAction action);
  void probe(HostEntry& host);
  void probe_all();
  bool probe_again(const std::vector<std::string>& candidates);
  void finish_probing();
  void start_all();
  void stop_all();
  void kill_all();
  void time_out_start();
  void blame_unprobed();
  void give_up();
  void finish();

  void add_fault(HostIndex host, Error why);
  void fail_host(HostEntry& host, Error why);
  TimePoint on_our_clock(const HostEntry& host, std::uint64_t agent_ns) const;
  void check_settled();
  void look_for_machines();
  void enrol_readers();
  int conclude();
  int leave_unstarted();
  std::uint64_t credit_step(const HostEntry& host) const;
  void give_credit();
  void output_gone(int sys_errno);
  void log_failed(const Error& why);
  void ping_all();
  void name_slow_hosts();
  void suspend();
  void write_report(const report::Verdict& verdict);
  bool wants_stdin(Rank rank) const;
  HostEntry& host_of(Rank rank);
  void arm_deadline();
  void await_signals();
  void on_signal(int signo);
  void begin_progress();
  report::OutputFlow output_flow() const;
  void print_status(int signo);
  void stop_for_no_progress(report::NoProgress what);
  void say_while_running(const std::string& text);
  std::vector<HostAddresses> known_addresses() const;
  std::vector<std::string> candidate_addresses() const;
  std::vector<std::string> job_addresses() const;
  void start_workers();
  std::vector<std::string> host_addresses() const;
  std::vector<wire::RankVariables> preset_variables(const HostEntry& host, const plan::PresetFacts& facts) const;
  void release_servers();
  void release_stores();
  void arm_join_watch();
  void ask_who_has_joined();
  HostEntry& entry(const launch::AgentSession& session);
  Result<void> open_to_hosts();
  void start_sessions();
  void prepared(launch::AgentSession& session, const Result<void>& done);
  std::string leave_reason(const report::Verdict& verdict);
  std::vector<launch::CleanUp::Host> vanished();
  void tell_hosts(const report::Verdict& verdict, std::string failure);

  const JobOptions& options_;
  const plan::LaunchPlan& plan_;
  const launch::AgentImage& image_;
  boost::asio::io_context loop_{1};
  SessionRoutes routes_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer deadline_timer_;
  boost::asio::steady_timer ping_timer_;
  boost::asio::steady_timer suspend_timer_;
  boost::asio::steady_timer join_timer_;
  Console console_;
  report::EventFeed events_;  // whatever happens, for those who record or show it
  ProgressWatch progress_;
  Records records_;
  StdinForwarder stdin_;
  JobMachine machine_;
  JoinWatch join_watch_;
  std::optional<dialin::HeadPlan> dial_in_;  // until the job runs
  std::unique_ptr<dialin::Head> head_;       // null: the hosts are reached, and do not call
  launch::Chore* chore_ = nullptr;           // HeadPlan::chore, of this host:
  HostIndex own_host_;
  std::optional<launch::Preparation> preparation_;
  std::vector<HostEntry> hosts_;  // those with ranks, in host order; rank 0 is on the first
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
  TimePoint next_ping_;
  double started_unix_ = 0;
};

}  // namespace sml::job
