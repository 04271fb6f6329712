// The agent: starts and ends the workers of one host on behalf of a launcher at the other end of a pipe.
//
// One thread, one event loop. Decisions are made by supervise::HostMachine and WorkerMachine; this file turns messages,
// signals and timers into their events and their actions into system calls. When the launcher's end of the pipe closes,
// or it is silent for longer than the heartbeat timeout, everything is ended and the agent leaves.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/fd.h"
#include "common/os/log_files.h"
#include "common/os/oom_watch.h"
#include "common/plan/worker_env.h"
#include "common/rendezvous/interfaces.h"
#include "common/supervise/host_machine.h"
#include "common/wire/messages.h"
#include "launcher/agent/control_link.h"
#include "launcher/agent/guardian.h"
#include "launcher/agent/local_callers.h"
#include "launcher/agent/mpi_watch.h"
#include "launcher/agent/pipes.h"
#include "launcher/agent/rendezvous_port.h"
#include "launcher/agent/rendezvous_stores.h"
#include "launcher/agent/scratch_folder.h"
#include "launcher/agent/shares.h"
#include "launcher/agent/worker.h"

namespace sml::agent {

class Agent final : private WorkerOwner {
 public:
  // `login_environment` is what the agent was started with. Messages come on descriptor 0 and go to 1.
  // `descriptor_limit` is the soft limit for workers; `scratch` outlives the agent.
  Agent(boost::asio::io_context& loop, plan::Environment login_environment, unsigned long descriptor_limit,
        const ScratchFolder& scratch, Pact& pact, Duration silence);

  // Returns when nothing is left to do. The exit status of the agent says nothing about the workers.
  void run();

 private:
  // messages
  void on_message(wire::ToAgent message);
  void handle(wire::Hello& m);
  void handle(wire::Prepare& m);
  void handle(wire::Probe& m);
  void handle(wire::Start& m);
  void handle(wire::Signal& m);
  void handle(wire::Stop& m);
  void handle(wire::StdinData& m);
  void handle(wire::StdinEof& m);
  void handle(wire::Credit& m);
  void handle(wire::Ping& m);
  void handle(wire::Suspend& m);
  void handle(wire::Release&) { release(); }
  void handle(wire::AskJoined& m);
  void handle(wire::Inspect& m);
  void handle(wire::Vouch& m);
  void handle(wire::Ruled& m);
  void handle(wire::EndLeft& m);
  void handle(wire::Resume&) {}  // any message resumes

  // WorkerOwner
  std::size_t output_allowance() const override { return link_.allowance(); }
  bool looks_at_output() const override { return logs_.has_value(); }
  void worker_output(Rank rank, wire::Stream stream, TimePoint read_at, std::string_view bytes) override;
  void worker_output_of(int pipe, Rank rank, wire::Stream stream, TimePoint read_at, std::size_t size) override {
    link_.send_output_of(pipe, rank, stream, read_at, size);
  }
  void worker_took_input(Rank rank, std::size_t bytes) override;
  void worker_changed() override;

  // what the machine asks for
  void perform(supervise::HostAction action);
  void spawn_all();
  void signal_all(int signo);  // workers by their process groups, and orphans
  void signal_orphans(int signo);
  void drop_output();
  void leave();
  void release();

  void settle();  // reports what workers have to report, tells the machine, arms the timer
  void report(Worker& worker);
  void send_evidence(const Worker& worker);
  void resume();
  void tell_machine();
  void reap();
  void wake_workers();
  void arm_timer();
  void on_timer(TimePoint due);
  void await_signals();
  void heed(int signo);
  void parent_died();
  void told_to_end(const std::string& why);
  void launcher_lost(const Error& why);
  plan::Environment environment_of(const Worker& worker, const WorkerShare& share) const;
  void compose_environments();
  void share_out(const wire::Prepare& m, wire::Prepared& answer);
  Result<void> plan_pipes(wire::Prepare& m);
  void share_channels(std::span<const plan::HostChannel> channels, wire::Prepared& answer);
  std::vector<wire::Obstacle> find_programs();
  std::vector<wire::MpiUse> find_mpi_programs() const;
  void look_for_mpi(TimePoint now);
  Result<void> choose_interfaces(const std::vector<std::string>& wanted);
  Result<std::vector<std::uint16_t>> reserve_ports(std::uint32_t count);
  void rule(std::uint32_t caller, wire::IsOurs ours);
  void send_rulings();
  std::vector<Rank> workers_without_connection(std::uint16_t port) const;
  Result<void> plan_logs(const wire::WorkerLogs& rules);
  void log(Rank rank, wire::Stream stream, std::string_view bytes);
  Worker* find(Rank rank);

  boost::asio::io_context& loop_;
  plan::Environment login_environment_;
  unsigned long descriptor_limit_;  // soft limit that workers get
  std::vector<int> ignored_signals_;
  ControlLink link_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  std::optional<TimePoint> armed_for_;
  supervise::HostMachine machine_;
  Duration heartbeat_timeout_;
  TimePoint last_heard_;
  const ScratchFolder& scratch_;
  Pact& pact_;
  os::OomWatch oom_watch_;
  pid_t guardian_ = ::getppid();  // the keeper, once it has taken over
  std::string mark_;              // Prepare::mark
  std::string told_to_end_;       // by whom, when it was not the launcher
  bool suspended_ = false;        // by the launcher, which is silent itself
  bool greeted_ = false;
  bool settling_ = false;
  bool left_ = false;
  std::vector<wire::App> apps_;
  std::vector<plan::Environment> environments_;  // by app: what its workers share
  std::vector<WorkerShare> shares_;              // by worker
  std::vector<std::string> programs_;            // by app: the file that argv[0] is
  plan::Environment rendezvous_;
  std::unordered_map<Rank, plan::Environment> rank_variables_;
  std::vector<RendezvousPort> reserved_ports_;      // held until we leave; the workers listen on them
  rendezvous::ChosenInterfaces chosen_interfaces_;  // when the user says which
  plan::Environment interface_;                     // variables that name it, or the one towards MASTER_ADDR
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unordered_map<Rank, Worker*> by_rank_;
  std::optional<os::LogFiles> logs_;                         // of the workers; nothing: none are kept here
  std::unordered_map<Rank, os::LogFiles::Index> log_index_;  // of a rank's stdout; its stderr follows
  std::unordered_map<pid_t, Worker*> by_pid_;
  std::unordered_set<pid_t> asked_orphans_;
  std::size_t next_to_wake_ = 0;
  LocalCallers callers_;
  std::vector<wire::CallerRuling> rulings_;  // not sent yet
  std::optional<RendezvousStores> stores_;
  std::optional<Pipes> pipes_;  // nothing: the job has no channels
  wire::MpiLook looks_for_mpi_ = wire::MpiLook::No;
  MpiWatch mpi_watch_;
  wire::Leave leave_ = wire::Leave::WhenDone;
  bool stays_ = false;  // done, and waiting for Release
  os::UniqueFd dev_null_;
};

}  // namespace sml::agent
