// Hosts that join an elastic job while its workers run (hvd.elastic): with the next round their workers become ranks of
// the attempt (PlanExtension).
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_owner.h"
#include "launcher/attempt/dynamic/dynamic_hosts.h"
#include "launcher/attempt/dynamic/elastic_rounds.h"
#include "launcher/attempt/dynamic/plan_extension.h"
#include "launcher/attempt/rendezvous/rendezvous_setup.h"
#include "launcher/attempt/worker_sink.h"
#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"

namespace sml::attempt {

class ElasticJoin {
 public:
  // Everything here outlives this.
  struct Deps {
    const JobOptions& options;
    fleet::Fleet& fleet;
    const plan::LaunchPlan& plan;
    PlanExtension& growth;
    DynamicHosts& late;
    const RendezvousSetup& meeting;
    AttemptOwner& owner;
    WorkerSink& sink;
    transport::Afterwards afterwards;
    std::function<bool()> run;  // whether the workers run and are not being ended
  };
  explicit ElasticJoin(Deps deps) : deps_(std::move(deps)) {}

  // Returns true if all joining hosts of `next` only wait for their start. Otherwise prepares them and calls `settled`
  // when they do, or when one of them cannot.
  [[nodiscard]] bool are_ready(const ElasticRounds::Next& next, std::function<void()> settled);
  // The addresses from which the joining hosts reach the stores; valid once they are ready.
  std::vector<std::string> addresses(const ElasticRounds::Next& next) const;
  // Starts their workers.
  void begin(const ElasticRounds::Next& next);
  // Releases the joining hosts, which are not needed any more.
  void let_go();

  bool is_reaching() const { return deps_.late.is_reaching(); }
  // Whether the host was to have workers and cannot.
  bool is_unfit(HostId id) const { return unfit_.contains(id); }
  // For a host that had workers in this attempt, or was to: whether it may have workers again.
  bool may_join(HostId id) const;

 private:
  bool are_those(const std::vector<ElasticRounds::Next::Joining>& joining) const;
  void reach(std::function<void()> settled);
  std::vector<wire::RankVariables> variables(const fleet::Host& host, const plan::JobMap& round) const;

  Deps deps_;
  std::vector<ElasticRounds::Next::Joining> joining_;  // hosts that were reached
  plan::JobMap world_;                                 // their ranks, counted from 0
  std::optional<plan::LaunchPlan> grown_;              // the plan with these ranks
  std::set<HostId> unfit_;
};

}  // namespace sml::attempt
