// The plan of an attempt that gets more ranks while it runs: by MPI_Comm_spawn, or on hosts that join (hvd.elastic).
// They follow the planned ranks in the plan, which is this attempt's own copy, and in its table, its output and its
// events. The next attempt begins with what was planned.
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

  // Adds the hosts of `map` that are not in the plan, because they have come while it runs: behind all others, ids
  // ascending, without ranks.
  void add_hosts(const plan::JobMap& map);
  // Call when the ranks of `world`, which are the last of `grown`, are about to start. Returns the hosts that have come
  // for them.
  std::vector<const fleet::Host*> begin(plan::LaunchPlan grown, const plan::JobMap& world,
                                        std::optional<Rank> asked_by);

 private:
  void keep_planned();

  Deps deps_;
  std::optional<plan::LaunchPlan> planned_;  // nullopt: not extended
};

}  // namespace sml::attempt
