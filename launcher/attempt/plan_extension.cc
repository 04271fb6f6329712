#include "launcher/attempt/plan_extension.h"

#include <utility>

#include "launcher/attempt/spare_hosts.h"

namespace sml::attempt {

void PlanExtension::keep_planned() {
  if (!planned_) planned_ = around_.plan;
}

void PlanExtension::add_hosts(const plan::JobMap& map) {
  keep_planned();
  std::vector<plan::MappedHost>& known = around_.plan.map.hosts;
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
  const Rank first(around_.plan.map.world_size());
  std::vector<const fleet::Host*> come = around_.late.begin(world);
  keep_planned();
  around_.plan = std::move(grown);
  around_.workers.grow(around_.plan);
  around_.sink.add_workers(around_.plan, first);
  around_.events.tell(report::RanksAdded{&around_.plan, asked_by, first});
  for (const fleet::Host* host : come) {
    around_.events.tell(connected(*host));
    around_.events.tell(report::HostReady{host->index});
  }
  return come;
}

}  // namespace sml::attempt
