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
#include "common/hosts/aliases.h"
#include "common/plan/job_map.h"
#include "launcher/fleet/heartbeat.h"
#include "launcher/fleet/host.h"
#include "launcher/fleet/host_table.h"
#include "launcher/launch/agent_image.h"
#include "launcher/launch/agent_session.h"
#include "launcher/launch/preparation.h"
#include "launcher/launch/reach.h"

namespace sml::fleet {

// What a fleet tells; as SessionOwner does.
class FleetListener {
 public:
  virtual ~FleetListener() = default;
  // Its agent runs, and has been told what to prepare. What is sent now saves a round trip.
  virtual void host_introduced(Host& host) = 0;
  // It knows what to start; `message.obstacles` may say why it cannot.
  virtual void host_prepared(Host& host, const wire::Prepared& message) = 0;
  // All else that an agent says. The facts of HelloAck and Pong have been noted.
  virtual void host_message(Host& host, wire::ToLauncher message) = 0;
  // The session's step() is another; for those who watch.
  virtual void host_step(const Host&) {}
  // Last call for that host. Null: its agent has left after its Bye. Otherwise the host could not be reached, or made
  // ready, or was lost.
  virtual void host_ended(Host& host, const Error* why) = 0;
  // A moment has passed.
  virtual void hosts_pinged() {}
};

// The same of hosts that have no workers in this attempt: spares, which then wait, and those that are out.
class SpareListener {
 public:
  virtual ~SpareListener() = default;
  virtual void spare_message(Host& host, const wire::ToLauncher& message) = 0;
  virtual void spare_step(const Host& host) = 0;
  virtual void spare_waits(Host& host) = 0;
  virtual void spare_ended(Host& host, const Error* why) = 0;
};

// One thread. Leave by _Exit() after close(): a name look-up may still be under way on a thread that nothing can end.
class Fleet final : private launch::SessionOwner {
 public:
  // What is given outlives the fleet.
  Fleet(boost::asio::io_context& loop, const launch::AgentImage& image, std::unique_ptr<launch::Reach> reach,
        Duration heartbeat_timeout);
  ~Fleet() override;

  // From now on these, which outlive the sessions, are told of them; before start(). Null: there are no spares.
  void serve(FleetListener& listener, SpareListener* of_spares = nullptr) {
    listener_ = &listener;
    of_spares_ = of_spares;
  }
  // First of all that reaches a host. Error (Internal): hosts cannot be let in.
  Result<void> open(launch::Reach::Events events);
  // What the next start() is for. First of all, by HostId, where the plan has them: nobody has workers then.
  void begin_group(std::vector<HostIndex> places) { hosts_.begin_group(std::move(places)); }
  // Those with workers, in host order; rank 0 is on the first. One whose agent waits stays connected. While others run
  // it may be one that gets workers now, for the first time or again, when its session has ended or waits; then start()
  // once more.
  void add(launch::AgentSession::Plan plan);
  // One that is to be there, and wait. While others run it may be one that no plan has had, of the next id, or one that
  // is lost and has no workers in this group; then start() once more.
  void add_spare(const plan::Host& host, launch::AgentSession::Plan plan);
  // Before the first attempt by another plan: hosts of the first that are `other_names` of the others' machines leave
  // at the next start(), and `fresh` have been in none, of the next ids.
  void replan(std::span<const HostId> other_names, std::span<const plan::Host> fresh);
  // Reaches them, or lets them come; pings those that are there, and gives up those that are silent. Those whose agents
  // have cleared an earlier attempt away are told what to prepare.
  void start();

  // Those that have workers; until the next begin_group().
  std::span<Host> hosts() { return hosts_.members(); }
  std::span<const Host> hosts() const { return hosts_.members(); }
  // Those beside them: spares, and hosts that are out.
  std::span<Host> others() { return hosts_.others(); }
  Host& first() { return hosts_.all().front(); }
  // The sessions of all of these.
  bool all_ended() const;
  // Nothing runs any more on any host with workers; those that have not ended are free for another attempt.
  bool all_cleared() const;
  // All that later attempts do without.
  std::vector<HostId> lost() const;
  // When the last worker has ended on hosts whose agents we have lost, as agents end them by themselves when they do
  // not hear us; no time when it has.
  std::optional<TimePoint> lost_workers_end() const { return heartbeat_.lost_workers_end(); }
  // Hosts of the run, those without workers too, that should have come by themselves.
  std::vector<launch::Reach::Missing> missing() const { return reach_->missing(); }
  // Machines that have several names in `map`, which then counts too many hosts.
  std::vector<hosts::MachineNames> machines(const plan::JobMap& map) const;

  // To the agent of that host, unless it does not run, or all have been dismissed.
  void tell(HostIndex index, const wire::ToAgent& message);
  // To all whose agents run.
  void tell_all(const wire::ToAgent& message);
  // The workers of all.
  void end_workers(const wire::Stop& how, launch::Afterwards afterwards);
  // Ctrl-Z: stops what runs there; then `stop` stops this process, and returns when somebody continues it; then what
  // runs there goes on.
  void suspend(std::function<void()> stop);

  // The loop has ended for good; what this host was doing beforehand is broken off.
  void stop_preparing() { preparation_.reset(); }
  // Ends all sessions, whatever they do.
  void dismiss();
  // After dismiss(): tells the hosts that wait for it; ends what agents that have vanished have left. Both run the loop
  // for a while.
  void tell_end(const launch::RunEnd& end);
  void clean_up(const std::function<void(const std::string&)>& say);
  void close() { reach_->close(); }

 private:
  // SessionOwner
  void session_introduced(launch::AgentSession& session) override;
  void session_ready(launch::AgentSession& session, const wire::Prepared& message) override;
  void session_message(launch::AgentSession& session, wire::ToLauncher message) override;
  void session_step(const launch::AgentSession& session) override;
  void session_ended(launch::AgentSession& session, const Error* why) override;

  Host& enlist(launch::AgentSession::Plan plan);
  void reach(Host& host);

  boost::asio::io_context& loop_;
  const launch::AgentImage& image_;
  std::unique_ptr<launch::Reach> reach_;
  FleetListener* listener_ = nullptr;
  SpareListener* of_spares_ = nullptr;
  boost::asio::steady_timer suspend_timer_;
  bool suspended_ = false;  // by Ctrl-Z
  HostTable hosts_;
  Heartbeat heartbeat_;
  std::optional<launch::Preparation> preparation_;
  std::vector<launch::AgentSession::Plan> vanished_;  // once all are dismissed
};

}  // namespace sml::fleet
