// The plan of an attempt that gets more ranks while it runs: by MPI_Comm_spawn, or on hosts that join (hvd.elastic).
// The added ranks follow the planned ranks: in the plan, which is this attempt's own copy, in its rank table, in its
// output and in its events. The next attempt begins with the plan as it was before.
#pragma once
#include <optional>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/dynamic/dynamic_hosts.h"
#include "launcher/attempt/worker_sink.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/events/event_feed.h"

namespace sml::attempt {

class PlanExtension {
 public:
  // Everything here outlives this.
  struct Deps {
    plan::LaunchPlan& plan;  // the plan to extend
    DynamicHosts& late;
    Workers& workers;
    WorkerSink& sink;
    const report::EventFeed& events;
  };
  explicit PlanExtension(Deps deps) : deps_(deps) {}

  // The plan before it was extended.
  const plan::LaunchPlan& planned() const { return planned_ ? *planned_ : deps_.plan; }

  // Adds the hosts of `map` that are not in the plan, as they have come since the attempt began: behind all others, ids
  // ascending, as spare hosts without ranks.
  void add_hosts(const plan::JobMap& map);
  // Call when the ranks of `world` are about to start: makes `grown`, whose last ranks they are, the plan. `asked_by`:
  // the rank that has spawned them; nullopt: none has. Returns the hosts that have come for them
  // (DynamicHosts::begin()).
  std::vector<const fleet::Host*> begin(plan::LaunchPlan grown, const plan::JobMap& world,
                                        std::optional<Rank> asked_by);

 private:
  void keep_planned();

  Deps deps_;
  std::optional<plan::LaunchPlan> planned_;  // nullopt: not extended
};

}  // namespace sml::attempt
