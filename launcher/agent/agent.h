// The agent: starts and ends the workers of one host on behalf of a launcher at the other end of a pipe.
//
// One thread, one event loop. This class owns everything that lasts for the whole run: the link, the guardian's process
// id, the heartbeat timeout, the greeting and the exit; a HostAttempt owns everything that belongs to the workers. If
// the launcher's end of the pipe closes and the launcher does not reconnect in time, or if the launcher is silent for
// longer than the heartbeat timeout, the agent ends all workers and exits.
#pragma once
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/plan/environment/worker_env.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/core/local_callers.h"
#include "launcher/agent/core/network.h"
#include "launcher/agent/core/processes.h"
#include "launcher/agent/core/scratch_folder.h"
#include "launcher/agent/diagnosis/health_check.h"
#include "launcher/agent/guardian/guardian.h"
#include "launcher/agent/host_attempt.h"
#include "launcher/agent/link/control_link.h"
#include "launcher/agent/link/reconnect_window.h"
#include "launcher/agent/machines/agent_machine.h"
#include "launcher/agent/os/oom_watch.h"
#include "launcher/agent/workers/preload.h"

namespace sml::agent {

class Agent final : private AttemptOwner {
 public:
  // The descriptors for incoming and outgoing messages. The agent takes ownership.
  struct Ends {
    int in;
    int out;
  };
  // The agent's dependencies; all references outlive it.
  struct Deps {
    boost::asio::io_context& loop;
    Processes& processes;
    Network& network;
    os::OomWatch& oom_watch;
    const ScratchFolder& scratch;
    Guard& guard;
    std::string machine;               // os::machine_identity()
    std::string cgroup;                // os::Cgroup::current()
    std::vector<int> ignored_signals;  // os::ignored_signals()
  };
  // `login_environment` is what the agent was started with. `descriptor_limit` is the soft limit for workers.
  Agent(Deps deps, Ends ends, plan::Environment login_environment, unsigned long descriptor_limit, Duration silence);

  // Returns when there is nothing left to do. The exit status of the agent does not depend on the workers.
  void run();
  // Handles a signal that this process has received; called from the loop. Accepts these signals and kStopSignals.
  static constexpr int kSignals[] = {SIGCHLD, kParentDied};
  void signalled(int signo);

 private:
  void on_message(wire::ToAgent message);
  // Feeds `event` to the state machine, performs the resulting action and returns it. Reports an ignored event to the
  // launcher. The default `message` is a placeholder for events that come with no message; nothing reads it.
  AgentAction dispatch(AgentEvent event, wire::ToAgent message = wire::Leave{});
  void perform(AgentAction action, wire::ToAgent& message);
  void greet(const wire::Hello& m);
  void refuse(const wire::Hello& m);
  void prepare(wire::Prepare& m);
  void end_left(const wire::EndLeft& m);
  void start(wire::Start& m);
  void stop(const wire::Stop* m);
  // Messages that are answered or noted in any state.
  void answer(const wire::Probe& m);
  void answer(const wire::Credit& m);
  void answer(const wire::Ping& m);
  void answer(const wire::Suspend&);
  void answer(const wire::AskJoined& m);
  void answer(const wire::Inspect&);
  void answer(const wire::CheckPeerOwnership& m);
  void answer(const wire::AskHealth& m);
  template <class Message>
  void answer(const Message&) {}  // needs no reply; receiving any message resumes

  void attempt_changed() override;
  bool is_own(pid_t child) const;
  wire::ToLauncher cleared() const;
  void leave(const std::string& words);
  void settle();
  void resume();
  void wake_workers();
  void arm_timer();
  void on_timer(TimePoint due);
  void heed(int signo);
  void reap();
  void guardian_died();
  void told_to_end(const std::string& why);
  void launcher_lost(const Error& why);
  void rule(std::uint32_t caller, wire::PeerOwnership ours);

  Deps deps_;
  plan::Environment login_environment_;
  unsigned long descriptor_limit_;  // soft limit that workers get
  ControlLink link_;
  ReconnectWindow hold_;
  boost::asio::steady_timer timer_;
  std::optional<TimePoint> armed_for_;
  AgentMachine machine_;
  Duration heartbeat_timeout_;
  Duration grace_;  // used if the launcher is lost
  TimePoint last_heard_;
  std::string told_to_end_;  // by whom, when it was not the launcher
  bool suspended_ = false;   // by the launcher, which is silent itself
  bool settling_ = false;
  LocalCallers callers_;
  std::vector<wire::PeerVerdict> rulings_;  // not sent yet
  Preload preload_;
  HealthCheck health_;
  std::unique_ptr<HostAttempt> attempt_;
  Lifetime probing_;  // renewed for each attempt, so that a later one does not get an earlier one's results
};

}  // namespace sml::agent
