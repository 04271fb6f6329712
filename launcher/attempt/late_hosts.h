// Hosts that run nothing when they are to have ranks while the workers of others run (MPI_Comm_spawn, hvd.elastic):
// they are reached, wait for their ranks, and are hosts as all others from the start of these on. A host whose ranks
// have ended comes again so.
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
#include "launcher/attempt/health_gate.h"
#include "launcher/attempt/meeting.h"
#include "launcher/attempt/roster.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"

namespace sml::attempt {

class LateHosts {
 public:
  // All of it outlives this.
  struct Around {
    const JobOptions& options;
    const plan::LaunchPlan& plan;
    fleet::Fleet& fleet;
    HealthGate& health;
    Roster& roster;
    Workers& workers;
    const Meeting& meeting;
    launch::Afterwards afterwards;
    std::function<bool()> run;  // the workers do, and are not being ended
  };
  LateHosts(const boost::asio::any_io_executor& loop, Around around)
      : around_(std::move(around)), loop_(loop), timer_(loop) {}

  // Those that are ready already stay so. One whose plan has no workers is told to start none, and then of `worlds`,
  // which run, before it is ready; one with workers waits for their start. `settled`: all are ready, or why() says that
  // not.
  void reach(std::vector<launch::AgentSession::Plan> hosts, std::vector<wire::AddWorkers> worlds,
             std::function<void()> settled);
  bool is_reaching() const { return reaching_; }
  // A clause that follows "it"; empty: nothing is in the way.
  const std::string& why() const { return why_; }
  HostId culprit() const { return culprit_; }  // which is
  bool is_ready(HostId id) const;
  // It has not failed so far.
  bool may_come(HostId id) const { return !failed_.contains(id); }

  // The ranks of `world` start: hosts with some are none of these any more, and the answer; the others are let go.
  std::vector<const fleet::Host*> begin(const plan::JobMap& world);
  // Nobody is to have ranks after all.
  void let_go();

  // What the fleet tells of them goes here.
  bool holds(const fleet::Host& host) const;
  void introduced(fleet::Host& host);
  void prepared(fleet::Host& host, const wire::Prepared& message);
  // True: it was for this.
  bool hears(fleet::Host& host, const wire::ToLauncher& message);
  void ended(const fleet::Host& host, const Error* why);
  // A host that is none of these has ended, or waits.
  void freed() { set_out_soon(); }

 private:
  enum class Step : std::uint8_t {
    Away,      // its session is none of ours, and ends, or has
    Coming,    // until its agent is prepared
    Learning,  // it is told of the worlds that there are
    Ready,
    Going,  // let go
  };
  struct Late {
    HostId id;
    std::string name;
    Step step = Step::Away;
    std::optional<launch::AgentSession::Plan> next{};  // with which it is to come as soon as it can
    bool has_workers = false;                          // its plan
    bool prepared = false;
    std::size_t learnt = 0;  // worlds
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

  Around around_;
  boost::asio::any_io_executor loop_;
  boost::asio::steady_timer timer_;
  std::vector<Late> hosts_;
  std::vector<wire::AddWorkers> worlds_;
  bool reaching_ = false;
  std::function<void()> settled_;
  std::string why_;
  HostId culprit_;
  std::set<HostId> failed_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
