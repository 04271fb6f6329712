// Hosts without ranks that are to get some while the workers of others run (MPI_Comm_spawn, hvd.elastic). They are
// reached, wait for their ranks, and become hosts like all others when these start. A host whose ranks have ended can
// come again this way.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/plan/launch_plan.h"
#include "common/wire/messages.h"
#include "launcher/attempt/hosts/health_check_gate.h"
#include "launcher/attempt/hosts/host_readiness.h"
#include "launcher/attempt/rendezvous/rendezvous_setup.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"

namespace sml::attempt {

class DynamicHosts {
 public:
  // Everything here outlives this.
  struct Deps {
    const JobOptions& options;
    const plan::LaunchPlan& plan;
    fleet::Fleet& fleet;
    HealthCheckGate& health;
    HostReadiness& readiness;
    Workers& workers;
    const RendezvousSetup& meeting;
    transport::Afterwards afterwards;
    std::function<bool()> run;  // whether the workers run and are not being ended
  };
  DynamicHosts(const boost::asio::any_io_executor& loop, Deps deps)
      : deps_(std::move(deps)), loop_(loop), timer_(loop) {}

  // Reaches `hosts`; those that are ready already stay so. A host whose plan has no workers gets an empty Start and
  // then each of `worlds`, which run, before it is ready; one with workers waits for their start. Calls `settled` when
  // all are ready, or when why() names the reason that they are not.
  void reach(std::vector<transport::AgentSession::Plan> hosts, std::vector<wire::AddWorkers> worlds,
             std::function<void()> settled);
  bool is_reaching() const { return reaching_; }
  // A clause that follows "it"; empty if nothing prevents the hosts from coming.
  const std::string& why() const { return why_; }
  HostId root_cause() const { return failed_host_; }  // the host that why() is about
  bool is_ready(HostId id) const;
  // Whether the host has not failed so far.
  bool may_come(HostId id) const { return !failed_.contains(id); }

  // Call when the ranks of `world` start: hosts with such ranks leave this table and are returned; the others are
  // released.
  std::vector<const fleet::Host*> begin(const plan::JobMap& world);
  // Releases all hosts: none is to have ranks after all.
  void let_go();

  // Whether the host belongs here, so that the fleet's calls about it go to this object.
  bool holds(const fleet::Host& host) const;
  void introduced(fleet::Host& host);
  void prepared(fleet::Host& host, const wire::Prepared& message);
  // Returns true if the message was handled here.
  bool hears(fleet::Host& host, const wire::ToLauncher& message);
  void ended(const fleet::Host& host, const Error* why);
  // Call when a host outside this table has ended, or waits.
  void freed() { set_out_soon(); }

 private:
  enum class Step : std::uint8_t {
    Away,      // its session belongs to others, and ends or has ended
    Coming,    // until its agent is prepared
    Learning,  // it receives the existing worlds
    Ready,
    Going,  // released
  };
  struct Late {
    HostId id;
    std::string name;
    Step step = Step::Away;
    std::optional<transport::AgentSession::Plan> next{};  // the plan with which it is started as soon as possible
    bool has_workers = false;                             // its plan has workers
    bool prepared = false;
    std::size_t learnt = 0;  // number of worlds that it knows
    std::string last_word{};
  };
  Late* find(HostId id);
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
  boost::asio::any_io_executor loop_;
  boost::asio::steady_timer timer_;
  std::vector<Late> hosts_;
  std::vector<wire::AddWorkers> worlds_;
  bool reaching_ = false;
  std::function<void()> settled_;
  std::string why_;
  HostId failed_host_;
  std::set<HostId> failed_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
