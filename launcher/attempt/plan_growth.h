// The plan of an attempt whose ranks become more while they run: by MPI_Comm_spawn, or on hosts that join
// (hvd.elastic). They follow the planned ones: in the plan, which is this attempt's own, its table, its output and its
// events. An attempt that follows begins with what was planned.
#pragma once
#include <optional>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/late_hosts.h"
#include "launcher/attempt/worker_sink.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/event_feed.h"

namespace sml::attempt {

class PlanGrowth {
 public:
  // All of it outlives this.
  struct Around {
    plan::LaunchPlan& plan;  // grows
    LateHosts& late;
    Workers& workers;
    WorkerSink& sink;
    const report::EventFeed& events;
  };
  explicit PlanGrowth(Around around) : around_(around) {}

  // As it was before it grew.
  const plan::LaunchPlan& planned() const { return planned_ ? *planned_ : around_.plan; }

  // Hosts of `map` for which the plan has no place, as they have come while it runs, stand behind all others now, ids
  // ascending, and have no ranks.
  void add_hosts(const plan::JobMap& map);
  // The ranks of `world`, which are the last of `grown`, are about to start. Answers the hosts that have come for them.
  std::vector<const fleet::Host*> begin(plan::LaunchPlan grown, const plan::JobMap& world,
                                        std::optional<Rank> asked_by);

 private:
  void keep_planned();

  Around around_;
  std::optional<plan::LaunchPlan> planned_;  // nothing: it has not grown
};

}  // namespace sml::attempt
