#include "launcher/agent/services.h"

#include <algorithm>
#include <utility>

#include "launcher/agent/channel_service.h"
#include "launcher/agent/log_service.h"
#include "launcher/agent/pipes.h"
#include "launcher/agent/port_service.h"
#include "launcher/agent/store_services.h"

namespace sml::agent {

namespace {

std::vector<Rank> ranks_of(const std::vector<const wire::Worker*>& workers) {
  std::vector<Rank> out;
  for (const wire::Worker* worker : workers) out.push_back(worker->rank);
  return out;
}

bool has_log(const wire::Worker* worker) { return !worker->stdout_log.empty() || !worker->stderr_log.empty(); }

void add_stores(HostServices& out, wire::Rendezvous wish, const ServiceContext& context) {
  const Reach reach = wish == wire::Rendezvous::ReserveAlone ? Reach::ThisMachine : Reach::Network;
  auto door = std::make_unique<StoreDoor>(context);
  StoreDoor& of_all = *door;
  out.push_back(std::move(door));
  out.push_back(std::make_unique<TorchStoreService>(context, of_all, reach));
  out.push_back(std::make_unique<HorovodStoreService>(context, of_all, reach));
}

}  // namespace

HostServices make_services(wire::Prepare& plan, const std::vector<const wire::Worker*>& workers,
                           const WorkerEnvironments& environments, const ServiceContext& context) {
  HostServices out;
  if (!plan.channels.empty()) {
    out.push_back(std::make_unique<ChannelService>(context, std::move(plan.channels), ranks_of(workers)));
  }
  if (!plan.pipes.channels.empty() && !plan.pipes.readers.empty() && environments.count() > 0) {
    out.push_back(std::make_unique<Pipes>(context, std::move(plan.pipes), environments.shared(0)));
  }
  if (std::any_of(workers.begin(), workers.end(), has_log)) {
    out.push_back(std::make_unique<LogService>(context, plan.logs, workers));
  }
  if (plan.rendezvous != wire::Rendezvous::None) add_stores(out, plan.rendezvous, context);
  if (plan.ports > 0) out.push_back(std::make_unique<PortService>(plan.ports));
  return out;
}

}  // namespace sml::agent
