// Hosts without ranks that are to get some while workers run on other hosts (MPI_Comm_spawn, hvd.elastic). This class
// starts their agents, keeps them waiting for their ranks, and hands the hosts over to the attempt when these start. A
// host whose ranks have ended can come again this way.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "common/plan/launch_plan.h"
#include "common/wire/messages.h"
#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/hosts/health_check_gate.h"
#include "launcher/attempt/hosts/host_readiness.h"
#include "launcher/attempt/rendezvous/rendezvous_setup.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

class DynamicHosts {
 public:
  // Everything here outlives the use of this; see DynamicRanks::Deps.
  struct Deps {
    const AttemptContext& context;
    const AttemptMachine& machine;
    const plan::LaunchPlan& plan;
    HealthCheckGate& health;
    HostReadiness& readiness;
    Workers& workers;
    const RendezvousSetup& rendezvous;
    transport::Afterwards afterwards;
  };
  explicit DynamicHosts(Deps deps) : deps_(deps), timer_(deps.context.loop) {}

  // Starts the agents of `hosts`, or begins a new session with agents that wait. A host whose plan has no workers gets
  // an empty Start and then each of `worlds`, the spawned worlds that run, before it is ready; a host with workers is
  // ready as soon as it is prepared and healthy. Calls `settled` once, from the loop, when all are ready, when one has
  // failed or when the start timeout has passed: why() then has the reason. let_go() and begin() cancel that call,
  // unless it is posted to the loop already.
  void reach(std::vector<transport::AgentSession::Plan> hosts, std::vector<wire::AddWorkers> worlds,
             std::function<void()> settled);
  bool is_reaching() const { return reaching_; }
  // Why the hosts of reach() cannot all come: a part of a sentence that follows "it"; empty: no reason so far.
  const std::string& why() const { return why_; }
  HostId root_cause() const { return failed_host_; }  // the host that why() names; only if that is not empty
  // Whether the host only waits for the start of its ranks.
  bool is_ready(HostId id) const;
  // Whether the host has not failed here so far.
  bool may_come(HostId id) const { return !failed_.contains(id); }

  // Call when the ranks of `world` start: hosts with such ranks leave this table and are returned; the others are
  // released.
  std::vector<const fleet::Host*> begin(const plan::JobMap& world);
  // Releases all hosts, as none is to have ranks after all, and clears why().
  void let_go();

  // Whether the host belongs here. The functions that follow take the fleet's calls about any host, and return true if
  // it belongs here.
  bool holds(const fleet::Host& host) const;
  [[nodiscard]] bool introduced(fleet::Host& host);
  [[nodiscard]] bool prepared(fleet::Host& host, const wire::Prepared& message);
  // Returns true if the message was handled here; otherwise the attempt handles it, whether the host belongs here or
  // not.
  [[nodiscard]] bool take(fleet::Host& host, const wire::ToLauncher& message);
  [[nodiscard]] bool ended(const fleet::Host& host, const Error* why);
  // Call when the session of a host outside this table has ended, or its agent waits: reach() may have waited for that.
  void freed() { set_out_soon(); }

 private:
  enum class Step : std::uint8_t {
    Away,      // has no session of this object: an earlier one ends or has ended
    Coming,    // until its agent is prepared and the host healthy
    Learning,  // it receives the existing worlds
    Ready,
    Going,  // released
  };
  struct Late {
    HostId id;
    std::string name;
    Step step = Step::Away;
    std::optional<transport::AgentSession::Plan> next{};  // of its next session, which begins as soon as possible
    bool has_workers = false;                             // its plan has workers
    bool prepared = false;
    std::size_t learnt = 0;   // number of worlds that it knows
    std::string last_word{};  // the reason in its agent's Bye
  };
  Late* find(HostId id);  // null: not in the table
  void set_out_soon();
  void set_out();
  void look(fleet::Host& host, Late& late);
  void learn(fleet::Host& host, Late& late);
  void learnt(fleet::Host& host, Late& late, const wire::Added& m);
  void fail(Late& late, const std::string& why);
  void drop(Late& late);
  void settle();
  void time_out();

  Deps deps_;
  boost::asio::steady_timer timer_;
  std::vector<Late> hosts_;
  std::vector<wire::AddWorkers> worlds_;
  bool reaching_ = false;  // settled_ is to be called
  std::function<void()> settled_;
  std::string why_;
  HostId failed_host_;
  std::set<HostId> failed_;  // may_come() is false for these
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
