#include "launcher/agent/services.h"

#include <algorithm>
#include <utility>

#include "launcher/agent/channel_service.h"
#include "launcher/agent/log_service.h"
#include "launcher/agent/pipes.h"
#include "launcher/agent/pmix_service.h"
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

bool is_store(const wire::ServiceWish& wish) { return wish.kind != wire::ServiceKind::WorkerPort; }

std::unique_ptr<HostService> make_wished(const wire::ServiceWish& wish, const ServiceContext& context,
                                         StoreDoor& door) {
  switch (wish.kind) {
    case wire::ServiceKind::TorchStore: return std::make_unique<TorchStoreService>(context, door, wish.reach);
    case wire::ServiceKind::HorovodStore: return std::make_unique<HorovodStoreService>(context, door, wish.reach);
    case wire::ServiceKind::WorkerPort: return std::make_unique<PortService>(wish.reach);
  }
  return std::make_unique<PortService>(wish.reach);  // of a launcher that is wrong
}

// Those with a port.
void add_wished(HostServices& out, const std::vector<wire::ServiceWish>& wishes, const ServiceContext& context) {
  auto door = std::make_unique<StoreDoor>(context);
  StoreDoor& of_all = *door;
  if (std::any_of(wishes.begin(), wishes.end(), is_store)) out.push_back(std::move(door));
  for (const wire::ServiceWish& wish : wishes) out.push_back(make_wished(wish, context, of_all));
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
  if (auto pmix = make_pmix_service(plan.mpi, workers, environments, context)) out.push_back(std::move(pmix));
  add_wished(out, plan.services, context);
  return out;
}

}  // namespace sml::agent
