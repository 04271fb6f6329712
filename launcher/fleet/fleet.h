// The hosts of a job: a session with the agent of each, kept over all attempts. The fleet connects, pings and dismisses
// hosts; it does not decide when an attempt starts or ends.
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

// The callbacks of a fleet for hosts with workers. When they may come: see transport::SessionOwner.
class FleetListener {
 public:
  virtual ~FleetListener() = default;
  // The host's agent runs and has been sent its Prepare. Sending a message now saves a round trip.
  virtual void host_introduced(Host& host) = 0;
  // The agent has prepared; `message.errors` may have reasons why it cannot start its workers.
  virtual void host_prepared(Host& host, const wire::Prepared& message) = 0;
  // Any other message of an agent. The facts of HelloAck and Pong have been recorded.
  virtual void host_message(Host& host, wire::ToLauncher message) = 0;
  // The step for which the launcher waits on that host, AgentSession::step(), has changed; for display only.
  virtual void host_step(const Host&) {}
  // The last call for that host. `why` is null if its agent has left after its Bye; otherwise the host could not be
  // reached or prepared, or was lost.
  virtual void host_ended(Host& host, const Error* why) = 0;
  // A round of pings has been sent, and silent hosts have been given up.
  virtual void hosts_pinged() {}
};

// The same for hosts without workers in this attempt: spare hosts, which connect and wait, and hosts that are lost.
class SpareListener {
 public:
  virtual ~SpareListener() = default;
  virtual void spare_message(Host& host, const wire::ToLauncher& message) = 0;
  virtual void spare_step(const Host& host) = 0;
  // The spare host is ready to get workers: its agent has sent Cleared. Follows spare_message() with that message.
  virtual void spare_waits(Host& host) = 0;
  virtual void spare_ended(Host& host, const Error* why) = 0;
};

// All calls and callbacks are on the loop's thread. It owns the hosts and their sessions. Order of the calls: serve(),
// open(); for each attempt begin_group(), add() and add_spare() for its hosts, start(); at the end dismiss(),
// send_end(), clean_up(), close(). After close(), exit by _Exit(): a name look-up may still be running on a thread that
// cannot be stopped.
class Fleet final : private transport::SessionOwner {
 public:
  // `loop` and `image` outlive the fleet.
  Fleet(boost::asio::io_context& loop, const transport::AgentImage& image,
        std::unique_ptr<transport::AgentLauncher> agent_launcher, Duration heartbeat_timeout);
  ~Fleet() override;

  // Sets the listeners for all sessions from now on; they outlive the sessions. Call before start(). `of_spares` may be
  // null if there are no hosts without workers.
  void serve(FleetListener& listener, SpareListener* of_spares = nullptr) {
    listener_ = &listener;
    of_spares_ = of_spares;
  }
  // Records the messages of all sessions from now on in `trace`, which outlives the fleet. Null: stops that.
  void trace(transport::ProtocolTrace* trace);
  // Opens the agent launcher. Call before start(). Error: as AgentLauncher::open().
  Result<void> open(transport::AgentLauncher::Events events);
  // Begins the group of hosts for the next attempt; call it before add(). `places`: each host's index in that attempt's
  // plan, by HostId. All hosts count as hosts without workers until add().
  void begin_group(std::vector<HostIndex> places) { hosts_.begin_group(std::move(places)); }
  // Adds a host with workers. Call it in the order of the plan; rank 0 is on the first host. A host whose agent waits
  // after an earlier attempt keeps its session. While other hosts run, a host may be added that gets workers now, if it
  // has no session, or one that has ended or waits; call start() again afterwards.
  void add(transport::AgentSession::Plan plan);
  // Adds a host that is to connect and wait, without workers. While other hosts run, it may be one that no plan has
  // had, with the next id, or one that is lost and has no workers in this group; call start() again afterwards. A host
  // whose session has not ended keeps it.
  void add_spare(const plan::Host& host, transport::AgentSession::Plan plan);
  // Call when another plan replaces the first before the first attempt, since machines() has found hosts that are one
  // machine. The hosts `other_names` are second names of machines: they leave at the next start(). The hosts `fresh`,
  // which no plan has had, get the next ids.
  void replan(std::span<const HostId> other_names, std::span<const plan::Host> fresh);
  // Starts the sessions of hosts that have been added: connects to them, or waits for their calls. Sends Prepare to
  // agents that have cleared an earlier attempt. Asks agents of lost hosts to leave. Begins the heartbeat. Does not
  // block.
  void start();

  // The hosts with workers; valid until the next begin_group().
  std::span<Host> hosts() { return hosts_.members(); }
  std::span<const Host> hosts() const { return hosts_.members(); }
  // The other hosts: spare hosts, and hosts that are lost.
  std::span<Host> others() { return hosts_.others(); }
  // Rank 0's host.
  Host& first() { return hosts_.all().front(); }
  bool is_first(const Host& host) const { return host.id == hosts_.all().front().id; }
  // With workers or without; null if the host has never been in the fleet.
  Host* find(HostId id) { return hosts_.find(id); }
  // Whether the sessions of all hosts have ended, spare hosts included.
  bool all_ended() const;
  // Whether no worker or service of the attempt runs any more on any host with workers: each session has ended, or its
  // agent waits for another attempt.
  bool all_cleared() const;
  // The ids of all hosts that later attempts do without.
  std::vector<HostId> lost() const;
  // The time by which the last worker has ended on hosts whose agents are lost: an agent that receives nothing from the
  // launcher ends its workers by itself. nullopt: they have ended, or there are none.
  std::optional<TimePoint> lost_workers_end() const { return heartbeat_.lost_workers_end(); }
  // For hosts that call: the hosts that have not come, those without workers too; and those of them that cannot take
  // part. As AgentLauncher::missing() and refused().
  std::vector<transport::AgentLauncher::Missing> missing() const { return agent_launcher_->missing(); }
  std::vector<transport::AgentLauncher::Missing> refused() const { return agent_launcher_->refused(); }
  // Machines that are in `map` as several hosts, under several names. Empty if the hosts are known by names alone.
  std::vector<hosts::MachineNames> machines(const plan::JobMap& map) const;

  // Sends to the agent of that host with workers. Does nothing if the agent does not run, or after dismiss().
  void send(HostIndex index, const wire::ToAgent& message);
  // Sends to all agents that run, those of spare hosts included.
  void send_all(const wire::ToAgent& message);
  // Has the agents of all hosts, spare hosts too, end their workers and then wait or leave. Does not block.
  void end_workers(const wire::Stop& how, transport::Afterwards afterwards);
  // Ctrl-Z: suspends the workers of all hosts and returns at once. A moment later `stop` is called, which stops this
  // process, and returns when somebody continues it; then the workers go on.
  void suspend(std::function<void()> stop);

  // Call after the loop has ended for good: cancels this host's pre-launch task (AgentLauncher::task_of()).
  void stop_preparing() { preparation_.reset(); }
  // Destroys all hosts and their sessions, in any state. References to hosts become invalid.
  void dismiss();
  // Call after dismiss(). send_end() sends the outcome to hosts that wait for it. clean_up() connects again to hosts
  // whose agents vanished, and ends what they have left there. Both run the loop and block until that is done.
  void send_end(const transport::RunEnd& end);
  void clean_up(const std::function<void(const std::string&)>& print);
  void close() { agent_launcher_->close(); }

 private:
  // SessionOwner
  void session_greeted(transport::AgentSession& session) override;
  void session_ready(transport::AgentSession& session, const wire::Prepared& message) override;
  void session_message(transport::AgentSession& session, wire::ToLauncher message) override;
  void session_step(const transport::AgentSession& session) override;
  void session_ended(transport::AgentSession& session, const Error* why) override;

  // Gives the host its next Prepare if its agent waits, else a new session, which start() starts.
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
  std::vector<transport::AgentSession::Plan> vanished_;  // for clean_up(); filled by dismiss()
};

}  // namespace sml::fleet
