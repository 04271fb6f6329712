#include "launcher/agent/workers/services.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/plan/program/mpi_use.h"
#include "launcher/agent/core/host_files.h"
#include "launcher/agent/diagnosis/log_service.h"
#include "launcher/agent/diagnosis/rank_monitor_service.h"
#include "launcher/agent/diagnosis/record_service.h"
#include "launcher/agent/diagnosis/trace_service.h"
#include "launcher/agent/diagnosis/usage_service.h"
#include "launcher/agent/mpi/pmi_service.h"
#include "launcher/agent/mpi/pmix_service.h"
#include "launcher/agent/pipes/channel_service.h"
#include "launcher/agent/pipes/fifo_service.h"
#include "launcher/agent/stores/horovod_caller.h"
#include "launcher/agent/stores/port_service.h"
#include "launcher/agent/stores/store_services.h"

namespace sml::agent {

namespace {

std::vector<Rank> ranks_of(const std::vector<const wire::Worker*>& workers) {
  std::vector<Rank> out;
  for (const wire::Worker* worker : workers) out.push_back(worker->rank);
  return out;
}

bool has_log(const wire::Worker* worker) { return !worker->stdout_log.empty() || !worker->stderr_log.empty(); }

bool is_store(const wire::ServiceRequest& request) { return request.kind != wire::ServiceKind::WorkerPort; }

std::unique_ptr<HostService> make_requested(const wire::ServiceRequest& request, const ServiceContext& context,
                                            StoreAuthorization& authorization) {
  switch (request.kind) {
    case wire::ServiceKind::TorchStore:
      return std::make_unique<TorchStoreService>(context, authorization, request.reach);
    case wire::ServiceKind::HorovodStore:
      return std::make_unique<HorovodStoreService>(context, authorization, request.reach);
    case wire::ServiceKind::WorkerPort: return std::make_unique<PortService>(context, request.reach);
  }
  return std::make_unique<PortService>(context, request.reach);  // of a launcher that is wrong
}

// Adds the services that have a port.
void add_requested(HostServices& out, const std::vector<wire::ServiceRequest>& requests,
                   const ServiceContext& context) {
  auto authorization = std::make_unique<StoreAuthorization>(context);
  StoreAuthorization& of_all = *authorization;
  if (std::any_of(requests.begin(), requests.end(), is_store)) out.push_back(std::move(authorization));
  for (const wire::ServiceRequest& request : requests) out.push_back(make_requested(request, context, of_all));
}

// The MPI dialect by which a program would find the other ranks, as far as it is known before it runs.
struct AppDialect {
  plan::MpiDialect dialect = plan::MpiDialect::Unknown;
  PmixNeed need = PmixNeed::Sure;
};

// A guess does not count if the user has chosen the dialect.
AppDialect dialect_of(std::uint32_t app, plan::PmiMode pmi_mode, const WorkerEnvironments& environments) {
  const plan::MpiFinding& found = environments.mpi(app);
  if (plan::dialect_of(found.library) != plan::MpiDialect::Unknown) return {found.dialect, PmixNeed::Sure};
  if (!plan::is_chosen_by_hosts(pmi_mode) || found.chance == plan::MpiChance::No) return {};
  return {found.dialect, PmixNeed::Perhaps};
}

// The same on all hosts, and different from any other job's or attempt's.
std::string job_name(const wire::Prepare& plan, const std::vector<const wire::Worker*>& workers) {
  const std::string number = "." + std::to_string(plan.attempt);
  if (workers.empty()) return plan.mpi.late.job + number;
  const std::string* job = plan::find_variable(workers.front()->environment, "SML_JOB_ID");
  return (job == nullptr ? plan.mark : std::string(plan::value_of(*job))) + number;
}

// Makes the services by which ranks of MPI find each other on one host.
class MpiServices {
 public:
  MpiServices(const wire::Prepare& plan, const std::vector<const wire::Worker*>& workers,
              std::span<const ResourceAssignment> shares, const WorkerEnvironments& environments,
              const ServiceContext& context)
      : plan_(plan), workers_(workers), shares_(shares), environments_(environments), context_(context) {
    for (std::uint32_t app = 0; app < environments.count(); ++app)
      dialects_.push_back(dialect_of(app, plan.mpi.pmi_mode, environments));
  }

  // Null if no worker may use it.
  std::unique_ptr<HostService> pmi() const;
  std::unique_ptr<HostService> pmix() const;

 private:
  // True for a rank of the world for which the user has set no other launcher.
  bool may_meet(const wire::Worker& worker) const {
    return worker.rank.value() < plan_.mpi.shape.size() && !plan::has_process_manager(environments_.shared(worker.app));
  }

  // True if the user has chosen a dialect, or if the program might use MPI.
  bool may_speak(const wire::Worker& worker) const {
    return !plan::is_chosen_by_hosts(plan_.mpi.pmi_mode) ||
           environments_.mpi_chance(worker.app) == plan::MpiChance::Yes;
  }

  bool is_late(wire::WireUp service) const {
    return plan_.mpi.late.workers == wire::Workers::Spawned && plan_.mpi.late.service == service &&
           environments_.count() > 0;
  }

  std::vector<pmix::Place> places() const;
  PmixRequest pmix_request(std::uint32_t app, const plan::Environment& own, PmixNeed need) const;

  const wire::Prepare& plan_;
  const std::vector<const wire::Worker*>& workers_;
  std::span<const ResourceAssignment> shares_;
  const WorkerEnvironments& environments_;
  const ServiceContext& context_;
  std::vector<AppDialect> dialects_;  // by app
};

PmiDialects dialects_of(plan::PmiMode pmi_mode) {
  if (pmi_mode == plan::PmiMode::Pmi1) return PmiDialects::OnlyOne;
  return pmi_mode == plan::PmiMode::Pmi2 ? PmiDialects::OnlyTwo : PmiDialects::Both;
}

// Serves every worker that may ask for PMI, as what a program does cannot be known before it runs.
std::unique_ptr<HostService> MpiServices::pmi() const {
  constexpr std::size_t kLongestMapping = 900;  // MPICH 4.0 accepts lines of 1024 bytes
  const plan::JobShape& shape = plan_.mpi.shape;
  PmiWorld world{.job = job_name(plan_, workers_),
                 .size = shape.size(),
                 .universe = shape.universe,
                 .mapping = plan::process_mapping(shape, kLongestMapping),
                 .hosts = static_cast<std::uint32_t>(shape.hosts.size()),
                 .ranks = {},
                 .dialects = dialects_of(plan_.mpi.pmi_mode)};
  std::vector<Rank> speakers;
  for (const wire::Worker* worker : workers_) {
    const std::optional<plan::RankRun> run = shape.run_of(worker->rank);
    const bool offered = plan::offers_pmi(plan_.mpi.pmi_mode, dialects_[worker->app].dialect);
    if (!run || !offered || !may_meet(*worker)) continue;
    world.ranks.push_back({worker->rank, run->program});
    if (may_speak(*worker)) speakers.push_back(worker->rank);
  }
  if (world.ranks.empty() && !is_late(wire::WireUp::Pmi)) return nullptr;
  const auto offers_both = [this](const AppDialect& one) {
    return plan::offers_pmi(plan_.mpi.pmi_mode, one.dialect) && plan::offers_pmix(plan_.mpi.pmi_mode, one.dialect);
  };
  plan::Environment choice;
  const plan::Environment& theirs = environments_.shared(workers_.empty() ? 0 : workers_.front()->app);
  if (std::any_of(dialects_.begin(), dialects_.end(), offers_both)) choice = plan::choice_variables(theirs);
  return std::make_unique<PmiService>(context_, std::move(world), std::move(speakers), std::move(choice));
}

std::vector<pmix::Place> MpiServices::places() const {
  std::vector<pmix::Place> out;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (!shares_[i].cpus.empty()) out.push_back({workers_[i]->rank, shares_[i].cpus, shares_[i].locality});
  }
  return out;
}

PmixRequest MpiServices::pmix_request(std::uint32_t app, const plan::Environment& own, PmixNeed need) const {
  const wire::MpiPlan& mpi = plan_.mpi;
  plan::Environment environment = environments_.shared(app);
  environment.insert(environment.end(), own.begin(), own.end());
  return {.host = mpi.host,
          .host_name = mpi.host < mpi.shape.hosts.size() ? mpi.shape.hosts[mpi.host] : mpi.late.host,
          .shape = mpi.shape,
          .name_space = "sml-run." + mpi.name_space + "." + std::to_string(plan_.attempt),
          .library = mpi.pmix_library,
          .program = environments_.path(app),
          .environment = std::move(environment),
          .places = places(),
          .need = need};
}

// Serves all ranks of the host, as a fence of PMIx includes all ranks of the job. A single rank may use PMIx to spawn
// others if there are slots for them, and runs without it; without a word about slots, only one whose program can
// spawn.
std::unique_ptr<HostService> MpiServices::pmix() const {
  if (is_late(wire::WireUp::Pmix)) {
    return std::make_unique<PmixService>(context_, pmix_request(0, {}, PmixNeed::Sure));
  }
  const bool alone = plan_.mpi.shape.size() < 2;
  const bool room_is_unsaid = plan_.mpi.shape.universe == 0;
  if (plan_.mpi.shape.slots < 2 || plan_.mpi.host >= plan_.mpi.shape.hosts.size()) return nullptr;
  for (const wire::Worker* worker : workers_) {
    const AppDialect& dialect = dialects_[worker->app];
    if (!may_meet(*worker) || !plan::offers_pmix(plan_.mpi.pmi_mode, dialect.dialect) || !may_speak(*worker)) continue;
    const bool is_seen = dialect.dialect != plan::MpiDialect::Unknown && dialect.need == PmixNeed::Sure;
    const bool is_named = plan_.mpi.pmi_mode == plan::PmiMode::Pmix;
    if (alone && room_is_unsaid && !is_seen && !is_named) continue;
    PmixNeed need = alone ? PmixNeed::Perhaps : dialect.need;
    if (is_named) need = PmixNeed::Sure;
    return std::make_unique<PmixService>(context_, pmix_request(worker->app, worker->environment, need));
  }
  return nullptr;
}

// The tools of these workers are found by PATH, or beside the program, as in a virtual environment.
std::vector<TraceService::Member> traced_members(const std::vector<const wire::Worker*>& workers,
                                                 const WorkerEnvironments& environments, const std::string& torch) {
  std::vector<TraceService::Member> out;
  for (const wire::Worker* worker : workers) {
    const std::string program = environments.path(worker->app);
    const std::string* path = plan::find_variable(environments.shared(worker->app), "PATH");
    const std::string beside = program.substr(0, program.rfind('/'));
    out.push_back({worker->rank, path == nullptr ? beside : std::string(plan::value_of(*path)) + ":" + beside});
    if (torch.empty()) continue;
    out.back().torch = torch_places(torch, worker->rank, environments.shared(worker->app),
                                    server_offer(environments.app(worker->app).argv));
  }
  return out;
}

std::vector<RecordService::Member> recorded_members(const std::vector<TraceService::Member>& traced) {
  std::vector<RecordService::Member> out;
  for (const TraceService::Member& one : traced) out.push_back({one.rank, one.torch});
  return out;
}

}  // namespace

HostServices make_services(wire::Prepare& plan, const std::vector<const wire::Worker*>& workers,
                           std::span<const ResourceAssignment> shares, const WorkerEnvironments& environments,
                           const ServiceContext& context) {
  HostServices out;
  if (!plan.channels.empty()) {
    out.push_back(std::make_unique<ChannelService>(context, std::move(plan.channels), ranks_of(workers)));
  }
  if (!plan.fifos.channels.empty() && !plan.fifos.readers.empty() && environments.count() > 0) {
    out.push_back(std::make_unique<FifoService>(context, std::move(plan.fifos), environments.shared(0)));
  }
  const bool is_late = plan.mpi.late.workers == wire::Workers::Spawned;
  if (is_late || std::any_of(workers.begin(), workers.end(), has_log)) {
    out.push_back(std::make_unique<LogService>(context, plan.logs, workers));
  }
  if (plan.usage == UsageLook::Yes) out.push_back(std::make_unique<UsageService>(context));
  const bool by_torch = plan.torch_traces == wire::TorchTraces::Yes;
  const std::string torch_folder = by_torch ? context.system.scratch.path() : std::string();
  std::vector<TraceService::Member> traced = traced_members(workers, environments, torch_folder);
  if (by_torch) out.push_back(std::make_unique<RecordService>(context, recorded_members(traced)));
  out.push_back(std::make_unique<TraceService>(context, std::move(traced)));
  if (plan.monitor.offer == plan::RankMonitorOffer::Yes) {
    out.push_back(std::make_unique<RankMonitorService>(context, plan.monitor, ranks_of(workers)));
  }
  add_requested(out, plan.services, context);
  out.push_back(std::make_unique<HorovodCaller>(context));
  if (plan.mpi.pmi_mode != plan::PmiMode::None) {
    const MpiServices mpi(plan, workers, shares, environments, context);
    if (auto pmi = mpi.pmi()) out.push_back(std::move(pmi));
    if (auto pmix = mpi.pmix()) out.push_back(std::move(pmix));
  }
  return out;
}

}  // namespace sml::agent
