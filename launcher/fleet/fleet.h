// The hosts of a run: a session with the agent of each, for as long as sml-run needs them, whatever runs there.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/fleet/heartbeat.h"
#include "launcher/fleet/host.h"
#include "launcher/fleet/host_table.h"
#include "launcher/hosts/aliases.h"
#include "launcher/transport/agent_image.h"
#include "launcher/transport/agent_launcher.h"
#include "launcher/transport/background_task.h"
#include "launcher/transport/session/agent_session.h"

namespace sml::fleet {

// The callbacks of a fleet, under the rules of SessionOwner.
class FleetListener {
 public:
  virtual ~FleetListener() = default;
  // The host's agent runs and has been sent its Prepare. Sending a message now saves a round trip.
  virtual void host_introduced(Host& host) = 0;
  // The agent has prepared; `message.errors` may say why it cannot start its workers.
  virtual void host_prepared(Host& host, const wire::Prepared& message) = 0;
  // Any other message of an agent. The facts of HelloAck and Pong have been recorded.
  virtual void host_message(Host& host, wire::ToLauncher message) = 0;
  // The session's step() has changed; for display only.
  virtual void host_step(const Host&) {}
  // The last call for that host. Null: its agent has left after its Bye. Otherwise the host could not be reached or
  // prepared, or was lost.
  virtual void host_ended(Host& host, const Error* why) = 0;
  // Called after every round of heartbeats.
  virtual void hosts_pinged() {}
};

// The same for hosts without workers in this attempt: spare hosts, which then wait, and hosts that are out.
class SpareListener {
 public:
  virtual ~SpareListener() = default;
  virtual void spare_message(Host& host, const wire::ToLauncher& message) = 0;
  virtual void spare_step(const Host& host) = 0;
  virtual void spare_waits(Host& host) = 0;
  virtual void spare_ended(Host& host, const Error* why) = 0;
};

// Runs on one thread. After close(), exit by _Exit(): a name look-up may still be running on a thread that cannot be
// stopped.
class Fleet final : private transport::SessionOwner {
 public:
  // The arguments outlive the fleet.
  Fleet(boost::asio::io_context& loop, const transport::AgentImage& image,
        std::unique_ptr<transport::AgentLauncher> agent_launcher, Duration heartbeat_timeout);
  ~Fleet() override;

  // Sets the listeners for all sessions from now on; they outlive the sessions. Call before start(). Null: there are no
  // spare hosts.
  void serve(FleetListener& listener, SpareListener* of_spares = nullptr) {
    listener_ = &listener;
    of_spares_ = of_spares;
  }
  // Writes down the messages of all sessions from now on; outlives the fleet. Null: none.
  void trace(transport::ProtocolTrace* trace);
  // Call before anything else that reaches a host. Error (Internal): hosts cannot be accepted.
  Result<void> open(transport::AgentLauncher::Events events);
  // Begins the group for the next start(); call it before add(). `places`, by HostId: each host's index in the plan. No
  // host has workers then.
  void begin_group(std::vector<HostIndex> places) { hosts_.begin_group(std::move(places)); }
  // Adds a host with workers, in host order; rank 0 is on the first. A host whose agent waits stays connected. While
  // others run, a host may be added that gets workers now, for the first time or again, if its session has ended or
  // waits; call start() again afterwards.
  void add(transport::AgentSession::Plan plan);
  // Adds a host that is to be connected and wait. While others run it may be one that no plan has had, with the next
  // id, or one that is lost and has no workers in this group; call start() again afterwards.
  void add_spare(const plan::Host& host, transport::AgentSession::Plan plan);
  // Before the first attempt by another plan: hosts of the first plan that are `other_names` of the others' machines
  // leave at the next start(), and `fresh` hosts, which no plan has had, get the next ids.
  void replan(std::span<const HostId> other_names, std::span<const plan::Host> fresh);
  // Reaches the hosts, or lets them come; pings those that are connected, and gives up those that are silent. Sends
  // Prepare to agents that have cleared an earlier attempt.
  void start();

  // The hosts with workers; valid until the next begin_group().
  std::span<Host> hosts() { return hosts_.members(); }
  std::span<const Host> hosts() const { return hosts_.members(); }
  // The other hosts: spare hosts, and hosts that are out.
  std::span<Host> others() { return hosts_.others(); }
  Host& first() { return hosts_.all().front(); }
  // Whether the sessions of all hosts have ended, spare hosts included.
  bool all_ended() const;
  // Whether nothing runs any more on any host with workers; hosts whose sessions have not ended are free for another
  // attempt.
  bool all_cleared() const;
  // All hosts that later attempts do without.
  std::vector<HostId> lost() const;
  // The time by which the last worker has ended on hosts whose agents are lost: an agent that receives nothing from the
  // launcher ends its workers by itself. nullopt: they have ended.
  std::optional<TimePoint> lost_workers_end() const { return heartbeat_.lost_workers_end(); }
  // Hosts of the run, those without workers too, that should have come by themselves.
  std::vector<transport::AgentLauncher::Missing> missing() const { return agent_launcher_->missing(); }
  std::vector<transport::AgentLauncher::Missing> refused() const { return agent_launcher_->refused(); }
  // Machines that have several names in `map`, which then counts too many hosts.
  std::vector<hosts::MachineNames> machines(const plan::JobMap& map) const;

  // Sends to the agent of that host, unless it does not run, or all have been dismissed.
  void send(HostIndex index, const wire::ToAgent& message);
  // Sends to all agents that run, those of spare hosts included.
  void send_all(const wire::ToAgent& message);
  // Ends the workers of all hosts; spare hosts get the message, too.
  void end_workers(const wire::Stop& how, transport::Afterwards afterwards);
  // Ctrl-Z: suspends the workers of all hosts and returns at once. A moment later `stop` is called, which stops this
  // process, and returns when somebody continues it; then the workers go on.
  void suspend(std::function<void()> stop);

  // Call after the loop has ended for good: cancels this host's pre-launch task.
  void stop_preparing() { preparation_.reset(); }
  // Ends all sessions, whatever they do.
  void dismiss();
  // Call after dismiss(). tell_end() notifies the hosts that wait for the end; clean_up() ends what vanished agents
  // have left. Both run the loop for a while.
  void tell_end(const transport::RunEnd& end);
  void clean_up(const std::function<void(const std::string&)>& print);
  void close() { agent_launcher_->close(); }

 private:
  // SessionOwner
  void session_introduced(transport::AgentSession& session) override;
  void session_ready(transport::AgentSession& session, const wire::Prepared& message) override;
  void session_message(transport::AgentSession& session, wire::ToLauncher message) override;
  void session_step(const transport::AgentSession& session) override;
  void session_ended(transport::AgentSession& session, const Error* why) override;

  Host& enlist(transport::AgentSession::Plan plan);
  void start_session(Host& host);

  boost::asio::io_context& loop_;
  const transport::AgentImage& image_;
  std::unique_ptr<transport::AgentLauncher> agent_launcher_;
  FleetListener* listener_ = nullptr;
  transport::ProtocolTrace* trace_ = nullptr;
  SpareListener* of_spares_ = nullptr;
  boost::asio::steady_timer suspend_timer_;
  bool suspended_ = false;  // by Ctrl-Z
  HostTable hosts_;
  Heartbeat heartbeat_;
  std::optional<transport::BackgroundTask> preparation_;
  std::vector<transport::AgentSession::Plan> vanished_;  // filled when all are dismissed
};

}  // namespace sml::fleet
