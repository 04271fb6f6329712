// The plan of an attempt together with what is added while it runs: ranks that MPI_Comm_spawn starts, and ranks on
// hosts that join (hvd.elastic). The added ranks follow the planned ranks: in this plan, in the rank table, in the
// output and in the events. The attempt's own plan stays as it is, and the next attempt begins with that.
#pragma once
#include <optional>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/worker_sink.h"
#include "launcher/attempt/workers.h"
#include "launcher/fleet/fleet.h"
#include "launcher/report/events/event_feed.h"

namespace sml::attempt {

class PlanExtension {
 public:
  // For begin() alone; the parts may be constructed after this.
  struct Deps {
    Workers& workers;
    WorkerSink& sink;
    const report::EventFeed& events;
  };
  PlanExtension(const plan::LaunchPlan& planned, Deps deps) : deps_(deps), plan_(planned) {}

  // The planned ranks and hosts, and behind them those that were added so far. Stays at its address when it grows.
  const plan::LaunchPlan& plan() const { return plan_; }

  // Adds the hosts of `map` that are not in the plan, as they have come since the attempt began: behind all others, ids
  // ascending, as spare hosts without ranks.
  void add_hosts(const plan::JobMap& map);
  // Call when the last ranks of `grown`, which become part of the plan, are about to start. `come`: the hosts that have
  // come for them. `asked_by`: the rank that has spawned them; nullopt: none has.
  void begin(plan::LaunchPlan grown, const std::vector<const fleet::Host*>& come, std::optional<Rank> asked_by);

 private:
  Deps deps_;
  plan::LaunchPlan plan_;
};

}  // namespace sml::attempt
