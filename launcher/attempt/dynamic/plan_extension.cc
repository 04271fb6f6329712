#include "launcher/attempt/dynamic/plan_extension.h"

#include <utility>

#include "launcher/attempt/hosts/spare_hosts.h"

namespace sml::attempt {

void PlanExtension::add_hosts(const plan::JobMap& map) {
  std::vector<plan::MappedHost>& known = plan_.map.hosts;
  const std::vector<HostIndex> places = map.places();
  for (std::size_t id = known.size(); id < places.size(); ++id) {
    known.push_back(map.hosts[places[id].value()]);
    known.back().ranks.clear();
    known.back().duty = plan::HostDuty::Spare;
  }
}

// Event listeners know the new hosts from then on.
void PlanExtension::begin(plan::LaunchPlan grown, const std::vector<const fleet::Host*>& come,
                          std::optional<Rank> asked_by) {
  const Rank first(plan_.map.world_size());
  plan_ = std::move(grown);
  deps_.workers.grow(plan_);
  deps_.sink.add_workers(plan_, first);
  deps_.events.publish(report::RanksAdded{&plan_, asked_by, first});
  for (const fleet::Host* host : come) {
    deps_.events.publish(connected(*host));
    deps_.events.publish(report::HostReady{host->id});
  }
}

}  // namespace sml::attempt
