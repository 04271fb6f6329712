// Hosts that join an elastic job while its workers run (hvd.elastic): with the next round their workers become ranks of
// the attempt (PlanExtension).
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_context.h"
#include "launcher/attempt/attempt_machine.h"
#include "launcher/attempt/dynamic/dynamic_hosts.h"
#include "launcher/attempt/dynamic/elastic_rounds.h"
#include "launcher/attempt/dynamic/plan_extension.h"
#include "launcher/attempt/rendezvous/rendezvous_setup.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

class ElasticJoin {
 public:
  // Everything here outlives the use of this; see DynamicRanks::Deps.
  struct Deps {
    const AttemptContext& context;
    const AttemptMachine& machine;
    PlanExtension& growth;
    DynamicHosts& late;
    const RendezvousSetup& rendezvous;
    transport::Afterwards afterwards;
  };
  explicit ElasticJoin(Deps deps) : deps_(deps) {}

  // Returns true if all joining hosts of `next` are ready, or there are none: then call begin(). Otherwise prepares
  // them and calls `settled` when they are ready or one of them has failed, from the loop or before this returns; the
  // caller then decides on the next round again.
  [[nodiscard]] bool are_ready(const ElasticRounds::Next& next, std::function<void()> settled);
  // Numeric addresses from which the workers of the joining hosts may connect to the stores; valid once these hosts are
  // ready.
  std::vector<std::string> addresses(const ElasticRounds::Next& next) const;
  // Makes the workers of the joining hosts ranks of the attempt, and starts them. Does nothing if no hosts join.
  void begin(const ElasticRounds::Next& next);
  // Releases the joining hosts, which are not needed any more.
  void let_go();

  bool is_reaching() const { return deps_.late.is_reaching(); }
  // Whether the host was to join and has failed.
  bool is_unfit(HostId id) const { return unfit_.contains(id); }
  // For a host that had workers in this attempt, or was to: whether it may have workers again.
  bool may_join(HostId id) const;

 private:
  const plan::LaunchPlan& plan() const { return deps_.growth.plan(); }
  bool are_those(const std::vector<ElasticRounds::Next::Joining>& joining) const;
  void reach(std::function<void()> settled);
  std::vector<wire::RankVariables> variables(const fleet::Host& host, const plan::JobMap& round) const;

  Deps deps_;
  std::vector<ElasticRounds::Next::Joining> joining_;  // hosts that are being prepared, or are ready
  plan::JobMap world_;                                 // their ranks, counted from 0
  std::optional<plan::LaunchPlan> grown_;              // the plan with these ranks; nullopt: no host joins
  std::set<HostId> unfit_;
};

}  // namespace sml::attempt
