// A host of the simulated job: its agents, which are the real ones, and its processes, which are made up.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>

#include "common/core/exit_status.h"
#include "common/core/strong.h"
#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/os/oom_watch.h"
#include "tests/simulation/host_system.h"
#include "tests/simulation/link.h"
#include "tests/simulation/world.h"

namespace sml::sim {

class Host;
class AgentProcess;

// What a worker does from its start on, until something ends it.
struct WorkerScript {
  struct Step {
    enum class Kind : std::uint8_t { Print, PrintErrors, PrintLoss, CloseOutput, LeaveChild, LeavePeers, End };
    Duration after{};
    Kind kind = Kind::End;
    std::uint64_t lines = 0;
    std::uint64_t line_size = 0;
    std::function<void()> leave{};  // of LeavePeers
  };
  std::vector<Step> steps;  // the last is End, unless it goes on for ever
  ExitStatus end;
  std::optional<Duration> ends_when_asked = Duration::zero();  // so long after SIGTERM; nothing: it does not
  Duration dies_after{};                                       // SIGKILL
};

// A worker, or what it has left running.
struct SimProcess {
  pid_t pid = -1;
  AgentProcess* agent = nullptr;
  std::optional<Rank> rank;   // empty: it is an orphan
  std::uint32_t attempt = 0;  // from 0
  WorkerScript script;
  std::size_t step = 0;
  int out = -1;
  int err = -1;
  bool stopped = false;
  bool waits_to_go_on = false;
  bool ending = false;
  bool ended = false;  // and not reaped
  ExitStatus status;
  std::string printing;  // what the pipe has not taken
  int printing_to = -1;
};

// What became of a rank, as nobody but the simulation knows.
struct RankTruth {
  TimePoint started;
  std::optional<TimePoint> ended;
  ExitStatus status;
  std::uint32_t attempt = 0;      // the last, from 0
  bool asked = false;             // it was told to end before it ended
  std::uint64_t times_asked = 0;  // in all attempts, as all below
  std::uint64_t out_lines = 0;
  std::uint64_t err_lines = 0;
  std::uint64_t out_lines_before = 0;  // of earlier attempts
  std::uint64_t err_lines_before = 0;
  bool abandoned = false;  // something else holds its output

  void ask() {
    if (!std::exchange(asked, true)) ++times_asked;
  }
};

class AgentProcess final : public Process {
 public:
  AgentProcess(Host& host, std::shared_ptr<Link> link, pid_t pid);
  ~AgentProcess() override;
  void turn() override;

  void signalled(int signo);
  void die();  // by SIGKILL; its guardian sees to the rest
  bool gone() const { return !agent_; }
  Host& host() { return host_; }
  Link& link() { return *link_; }
  pid_t pid() const { return pid_; }
  Duration stand_still() const { return guard_.stand_still(); }
  // The launcher has come back by another link: it is this agent's from now on.
  void go_on(std::shared_ptr<Link> link) { link_ = std::move(link); }

 private:
  void leave(bool well);

  Host& host_;
  std::shared_ptr<Link> link_;
  pid_t pid_;
  std::unique_ptr<boost::asio::io_context> loop_ = std::make_unique<boost::asio::io_context>(1);
  agent::ScratchFolder scratch_;
  os::OomWatch oom_watch_;
  HostProcesses processes_{*this};
  HostNetwork network_{*this};
  Guardian guard_;
  std::unique_ptr<agent::Agent> agent_;
  bool begun_ = false;
};

class Host {
 public:
  using Scripts = std::function<WorkerScript(Rank, std::uint32_t attempt)>;

  Host(std::string name, std::size_t index, Scripts scripts);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& name() const { return name_; }
  std::string address() const { return "10.0.0." + std::to_string(index_ + 1); }
  std::size_t index() const { return index_; }

  void start_agent(std::shared_ptr<Link> link);
  void come_back(std::shared_ptr<Link> link, std::string_view frame);
  void wake(const Link& link);
  void wake_all();

  // What befalls it.
  void lose_power();
  void kill_agent();
  void freeze(Duration time);        // all of it
  void freeze_agent(Duration time);  // its guardian watches
  void cut();
  void reset_links();  // nothing else befalls it: another connection can be made
  void half_open(bool down, bool up);
  bool dead() const { return dead_; }
  std::string machine;   // its name, or that of the host that is the same machine
  bool touched = false;  // something has befallen it
  TimePoint touched_at = TimePoint::max();
  LinkQuality quality;
  std::shared_ptr<Monitor> monitor;  // of the conversation with its agent
  TimePoint reset_at = TimePoint::min();

  // The system that its agent calls.
  std::variant<pid_t, SpawnFailed> spawn(AgentProcess& agent, const os::WorkerProcess& worker);
  std::vector<pid_t> children(const AgentProcess& agent) const;
  void reap(AgentProcess& agent, const std::function<void(pid_t, const ExitStatus&)>& ended);
  void signal(pid_t pid, int signo);
  std::uint32_t end_all();  // of no agent that lives; how many

  // A rank that has no steps left says that it has lost a peer, and ends.
  void lose_peer(Rank rank);

  bool runs_before(std::uint32_t attempt) const;  // something of an earlier one
  std::vector<std::string> running() const;       // in words
  std::map<Rank, RankTruth> ranks;

 private:
  void touch(const std::string& how);
  void schedule(SimProcess& process);
  void do_step(pid_t pid);
  void print(SimProcess& process, WorkerScript::Step step, bool errors);
  void push(pid_t pid);
  void end(SimProcess& process, ExitStatus status);
  void agents_end(AgentProcess& agent);
  void accept_reconnects(AgentProcess& agent);
  SimProcess* find(pid_t pid);
  friend class AgentProcess;

  std::string name_;
  std::size_t index_;
  Scripts scripts_;
  Duration clock_offset_;
  std::vector<std::unique_ptr<AgentProcess>> agents_;
  // A messenger with another link, at the door of an agent that has not answered.
  struct Caller {
    std::shared_ptr<Link> link;
    std::uint64_t received;  // what the launcher has
    os::UniqueFd reconnect_socket;
  };
  std::vector<Caller> callers_;
  std::map<pid_t, SimProcess> processes_;
  std::optional<std::uint32_t> begun_;  // the last attempt of which a worker was started
  pid_t next_pid_ = 2'000'000'000;      // no process of this machine has such a number
  bool dead_ = false;
  TimePoint stood_still_until_{};
};

inline constexpr std::uint64_t kLinesOfAttempt = 1'000'000;  // each counts from a multiple

// A line that a rank prints; `size` is at least.
std::string line_of(Rank rank, bool errors, std::uint64_t number, std::uint64_t size);
// The line of errors of a rank that has lost a peer.
std::string loss_line_of(Rank rank, std::uint64_t number);

}  // namespace sml::sim
