// The agent: starts and ends the workers of one host on behalf of a launcher at the other end of a pipe.
//
// One thread, one event loop, but for work that may wait for a file server, such as the search for programs
// (common/os/LOOP.md).
// This class handles everything that lasts for the whole run: the link, the guardian, the heartbeat timeout, the
// greeting and the exit. A HostAttempt, one at a time, owns everything that belongs to the workers. If the launcher's
// end of the pipe closes and the launcher does not reconnect in time, or if the launcher is silent for longer than the
// heartbeat timeout, the agent ends all workers and exits.
#pragma once
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/side_thread.h"
#include "common/plan/environment/worker_env.h"
#include "common/plan/host_facts.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/host_system.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/core/local_connection_check.h"
#include "launcher/agent/diagnosis/health_check.h"
#include "launcher/agent/guardian/guardian.h"
#include "launcher/agent/host_attempt.h"
#include "launcher/agent/link/control_link.h"
#include "launcher/agent/link/reconnect_window.h"
#include "launcher/agent/machines/agent_machine.h"
#include "launcher/agent/os/oom_watch.h"
#include "launcher/agent/workers/preload.h"

namespace sml::agent {

class Agent final : private HostAttemptOwner {
 public:
  // The descriptors for incoming and outgoing messages. The agent takes ownership.
  struct Ends {
    int in;
    int out;
  };
  // The agent's dependencies; all references outlive it.
  struct Deps {
    HostSystem system;  // file_work null: by a thread of the agent's
    os::OomWatch& oom_watch;
    Guard& guard;
    StartState at_start;
    std::string machine;  // os::machine_identity()
    std::string cgroup;   // os::Cgroup::current()
  };
  // `silence` is the heartbeat timeout until the launcher's Hello sets another.
  Agent(Deps deps, Ends ends, Duration silence);

  // Runs the event loop until the session is over, and the last message has been sent or the launcher is lost. The exit
  // status of the agent does not depend on the workers.
  void run();
  // The signals that, together with kStopSignals and kNoticeSignals, must be passed to signalled().
  static constexpr int kSignals[] = {SIGCHLD, kParentDied};
  // Handles a signal that this process has received. To be called from the loop.
  void signalled(int signo);

 private:
  void on_message(wire::ToAgent message);
  void take(wire::ToAgent message);
  // Feeds `event` to the state machine, performs the resulting action and returns it. Reports an ignored event to the
  // launcher. The default `message` is a placeholder for events that come with no message; nothing reads it.
  AgentAction dispatch(AgentEvent event, wire::ToAgent message = wire::Leave{});
  void perform(AgentAction action, wire::ToAgent& message);
  // Actions of the state machine.
  void greet(const wire::Hello& m);
  void refuse(const wire::Hello& m);
  void prepare(wire::Prepare& m);
  void end_left(const wire::EndLeft& m);
  void start(wire::Start& m);
  void stop(const wire::Stop* m);  // null: the agent ends the workers by itself, without a Stop of the launcher
  // Messages that are answered or noted in any state after the greeting.
  void answer(const wire::Probe& m);
  void answer(const wire::Credit& m);
  void answer(const wire::Ping& m);
  void answer(const wire::Suspend&);
  void answer(const wire::AskJoined& m);
  void answer(const wire::Inspect&);
  void answer(const wire::CheckPeerOwnership& m);
  void answer(const wire::AskHealth& m);
  template <class Message>
  void answer(const Message&) {}  // needs no reply; any message that is received ends a suspension

  // The programs of the attempt; null if there are none.
  const WorkerEnvironments* programs() const;
  // Calls `then` later, from the loop: what is asked for may be on a file server that stands still. See inspect_host().
  void inspect(const plan::Environment& environment, const std::string& directory,
               std::function<void(const plan::HostFacts&)> then);
  void tell(const plan::HostFacts& facts);
  void end_health_check();

  // HostAttemptOwner
  void attempt_changed() override;
  bool is_own(pid_t child) const override;
  wire::ToLauncher cleared() const;
  void leave(const std::string& words);  // `words` are encoded frames
  // Advances the attempt after any change, and ends the loop once the session is over. To be called after each event.
  void settle();
  void resume();        // ends a suspension, if there is one
  void wake_workers();  // more output may be sent
  // Sets timer_ to the earliest deadline of the heartbeat, the reconnect window and the attempt.
  Duration longest_silence() const;  // of the launcher, until it is lost
  void arm_timer();
  void on_timer(TimePoint due);
  void heed(int signo);
  void reap();
  void guardian_died();
  // Ends the workers for a reason that does not come from the launcher. Bye gets `why`, unless they are ending already.
  void end_by_signal(const std::string& why);
  void launcher_lost(const Error& why);
  // Notes the result for a connection of CheckPeerOwnership; it is sent soon, together with others.
  void rule(std::uint32_t caller, wire::PeerOwnership ours);

  Deps deps_;
  ControlLink link_;
  ReconnectWindow reconnect_window_;
  boost::asio::steady_timer timer_;
  std::optional<TimePoint> armed_for_;  // when timer_ fires; nullopt: it is not armed
  AgentMachine machine_;
  Duration heartbeat_timeout_;  // how long the launcher may be silent before it counts as lost
  Duration grace_;              // used if the workers are ended without a Stop of the launcher
  TimePoint last_received_;     // when the launcher last sent a message; the heartbeat timeout counts from here
  std::string told_to_end_;     // why the agent ends, if the launcher did not ask for it: the reason in Bye; else empty
  bool may_be_killed_ = false;  // a signal has asked the agent to end, or nobody guards it
  wire::PipeEnd pipe_end_ = wire::PipeEnd::Agent;
  bool suspended_ = false;  // by the launcher, which sends nothing until it resumes: no heartbeat timeout
  bool settling_ = false;   // a call of settle() is queued in the loop
  LocalConnectionCheck callers_;
  std::vector<wire::PeerVerdict> unsent_verdicts_;  // results of rule() that have not been sent yet
  Preload preload_;
  HealthCheck health_;
  os::SideThread file_thread_;
  std::unique_ptr<HostAttempt> attempt_;  // null before the first Prepare; kept until the next
  std::vector<wire::ToAgent> put_off_;    // what was received before Prepared could be sent, and comes after it
  Lifetime probing_;      // renewed for each attempt, so that a later one does not get an earlier one's Probed
  Lifetime health_look_;  // of the health check that begins when the host has been looked at; renewed to forget that
};

}  // namespace sml::agent
