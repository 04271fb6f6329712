#include "launcher/agent/services.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/plan/mpi_use.h"
#include "launcher/agent/channel_service.h"
#include "launcher/agent/log_service.h"
#include "launcher/agent/pipes.h"
#include "launcher/agent/pmi_service.h"
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

// Whoever may ask for it: what a program does when it runs cannot be told beforehand. Not those whose library speaks
// otherwise, and those to whom the user has named another.
bool may_use_pmi(std::uint32_t app, plan::MpiMeeting meeting, const WorkerEnvironments& environments) {
  if (plan::has_process_manager(environments.shared(app))) return false;
  return plan::brings_together(meeting, plan::speech_of(environments.mpi_library(app)));
}

// The same on all hosts, and no other job's or attempt's on any of them.
std::string job_name(const wire::Prepare& plan, const wire::Worker& worker) {
  const std::string* job = plan::find_variable(worker.environment, "SML_JOB_ID");
  return (job == nullptr ? plan.mark : std::string(plan::value_of(*job))) + "." + std::to_string(plan.attempt);
}

rendezvous::PmiDialects dialects_of(plan::MpiMeeting meeting) {
  if (meeting == plan::MpiMeeting::Pmi1) return rendezvous::PmiDialects::OnlyOne;
  return meeting == plan::MpiMeeting::Pmi2 ? rendezvous::PmiDialects::OnlyTwo : rendezvous::PmiDialects::Both;
}

// Nobody may use it: none.
std::unique_ptr<HostService> make_pmi(const wire::Prepare& plan, const std::vector<const wire::Worker*>& workers,
                                      const WorkerEnvironments& environments, const ServiceContext& context) {
  constexpr std::size_t kLongestMapping = 900;  // MPICH 4.0 takes lines of 1024 bytes
  const plan::JobShape& shape = plan.mpi.shape;
  rendezvous::PmiWorld world{.job = workers.empty() ? std::string() : job_name(plan, *workers.front()),
                             .size = shape.size(),
                             .universe = shape.slots,
                             .mapping = plan::process_mapping(shape, kLongestMapping),
                             .hosts = static_cast<std::uint32_t>(shape.hosts.size()),
                             .ranks = {},
                             .dialects = dialects_of(plan.mpi.meeting)};
  std::vector<bool> may_use(environments.count());
  for (std::uint32_t app = 0; app < may_use.size(); ++app) {
    may_use[app] = may_use_pmi(app, plan.mpi.meeting, environments);
  }
  for (const wire::Worker* worker : workers) {
    const std::optional<plan::RankRun> run = shape.run_of(worker->rank);
    if (run && may_use[worker->app]) world.ranks.push_back({worker->rank, run->program});
  }
  if (world.ranks.empty()) return nullptr;
  return std::make_unique<PmiService>(context, std::move(world));
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
  if (plan.mpi.meeting == plan::MpiMeeting::Pmix) {
    if (auto pmix = make_pmix_service(plan.mpi, workers, environments, context)) out.push_back(std::move(pmix));
  }
  add_wished(out, plan.services, context);
  if (plan.mpi.meeting != plan::MpiMeeting::None) {
    if (auto pmi = make_pmi(plan, workers, environments, context)) out.push_back(std::move(pmi));
  }
  return out;
}

}  // namespace sml::agent
