#include "launcher/attempt/dynamic/dynamic_ranks.h"

namespace sml::attempt {

DynamicRanks::DynamicRanks(const plan::LaunchPlan& planned, const Deps& deps)
    : extension_(planned, {deps.workers, deps.context.sink, deps.context.events}),
      hosts_({deps.context, deps.machine, plan(), deps.health, deps.readiness, deps.workers, deps.rendezvous,
              deps.terms.afterwards}),
      spawns_({deps.context, deps.machine, extension_, hosts_, deps.rendezvous, deps.workers}),
      elastic_({deps.context, deps.control, deps.machine, plan(), deps.workers, deps.terms.restarts_used},
               {deps.context, deps.machine, extension_, hosts_, deps.rendezvous, deps.terms.afterwards}) {}

bool DynamicRanks::outlives(Rank rank, const ExitStatus& status, const Workers::End& end) {
  spawns_.ended(rank);
  return elastic_.outlives(rank, status, end);
}

void DynamicRanks::lost(const fleet::Host& host) {
  spawns_.lost(host);
  hosts_.freed();
}

}  // namespace sml::attempt
