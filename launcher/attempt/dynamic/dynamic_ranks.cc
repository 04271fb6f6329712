#include "launcher/attempt/dynamic/dynamic_ranks.h"

namespace sml::attempt {

DynamicRanks::DynamicRanks(const boost::asio::any_io_executor& loop, const plan::LaunchPlan& planned, const Deps& deps)
    : extension_(planned, {deps.workers, deps.sink, deps.events}),
      hosts_(loop, {deps.options, deps.machine, plan(), deps.fleet, deps.health, deps.readiness, deps.workers,
                    deps.rendezvous, deps.afterwards}),
      spawns_({deps.options, deps.machine, deps.fleet, extension_, hosts_, deps.rendezvous, deps.workers, deps.owner,
               deps.sink}),
      elastic_({deps.options, deps.machine, plan(), deps.fleet, deps.workers, deps.owner, deps.restarts_used,
                deps.give_up, deps.stop},
               {deps.options, deps.machine, deps.fleet, extension_, hosts_, deps.rendezvous, deps.owner, deps.sink,
                deps.afterwards}) {}

bool DynamicRanks::outlives(Rank rank, const ExitStatus& status, const Workers::End& end) {
  spawns_.ended(rank);
  return elastic_.outlives(rank, status, end);
}

void DynamicRanks::lost(const fleet::Host& host) {
  spawns_.lost(host);
  hosts_.freed();
}

}  // namespace sml::attempt
