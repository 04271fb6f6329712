#include "launcher/attempt/dynamic/plan_extension.h"

#include <utility>

#include "launcher/attempt/hosts/spare_hosts.h"

namespace sml::attempt {

void PlanExtension::keep_planned() {
  if (!planned_) planned_ = deps_.plan;
}

void PlanExtension::add_hosts(const plan::JobMap& map) {
  keep_planned();
  std::vector<plan::MappedHost>& known = deps_.plan.map.hosts;
  const std::vector<HostIndex> places = map.places();
  for (std::size_t id = known.size(); id < places.size(); ++id) {
    known.push_back(map.hosts[places[id].value()]);
    known.back().ranks.clear();
    known.back().duty = plan::HostDuty::Spare;
  }
}

// Event listeners know the new hosts from then on.
std::vector<const fleet::Host*> PlanExtension::begin(plan::LaunchPlan grown, const plan::JobMap& world,
                                                     std::optional<Rank> asked_by) {
  const Rank first(deps_.plan.map.world_size());
  std::vector<const fleet::Host*> come = deps_.late.begin(world);
  keep_planned();
  deps_.plan = std::move(grown);
  deps_.workers.grow(deps_.plan);
  deps_.sink.add_workers(deps_.plan, first);
  deps_.events.publish(report::RanksAdded{&deps_.plan, asked_by, first});
  for (const fleet::Host* host : come) {
    deps_.events.publish(connected(*host));
    deps_.events.publish(report::HostReady{host->id});
  }
  return come;
}

}  // namespace sml::attempt
