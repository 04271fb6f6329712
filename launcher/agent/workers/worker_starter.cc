#include "launcher/agent/workers/worker_starter.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/os/fd.h"
#include "launcher/agent/core/leftovers.h"
#include "launcher/agent/core/own_clock.h"
#include "launcher/agent/core/preflight_error.h"

namespace sml::agent {

namespace {

// Large pipes let workers go on writing while the agent is busy. All pipes of a user other than root count against one
// limit (64 MB by default), beyond which the kernel makes tiny pipes for all of the user's programs.
constexpr int kWidestPipe = 256 << 10;
constexpr int kPipesInAll = 8 << 20;
constexpr std::size_t kFirstOwnDescriptor = 3;

void append(plan::Environment& to, const plan::Environment& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

WorkerStarter::WorkerStarter(const AttemptDeps& deps, std::vector<wire::App> apps, std::string mark,
                             WorkerGroup& workers, const HostServices& services)
    : deps_(deps),
      environments_(deps.system.network, std::move(apps), deps.at_start.environment),
      mark_(std::move(mark)),
      workers_(workers),
      services_(services) {}

// ---- before the start

void WorkerStarter::share_out(const wire::Prepare& plan, wire::Prepared& answer) {
  std::vector<ShareRequest> requests;
  for (const wire::Worker* spec : workers_.specs()) requests.push_back({*spec, environments_.shared(spec->app)});
  binding_ = plan.binding;
  ResourceAssignments shares = sml::agent::share_out(plan.binding, plan.devices, requests);
  shares_ = std::move(shares.workers);
  for (std::size_t i = 0; i < shares_.size(); ++i) shares_[i].place = i;
  answer.warnings = std::move(shares.warnings);
  for (const Error& e : shares.errors) answer.errors.push_back(preflight_error(e));
  if (plan.binding.report == plan::ReportBindings::No) return;
  for (std::size_t i = 0; i < workers_.count(); ++i) {
    answer.bindings.push_back({workers_.all()[i]->rank(), shares_[i].words});
  }
}

ResourceAssignments WorkerStarter::share_out_more(std::span<const wire::Worker> workers) const {
  ResourceAssignments out;
  out.workers.resize(workers.size());
  if (workers.empty() || !asks_for_binding(binding_)) return out;
  struct Place {
    const wire::Worker* worker = nullptr;
    bool taken = false;
  };
  std::vector<Place> places;  // all but the last have been assigned before
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const Worker& worker = *workers_.all()[i];
    places.resize(std::max(places.size(), shares_[i].place + 1));
    Place& place = places[shares_[i].place];
    place = {&worker.spec(), place.taken || worker.machine().alive()};
  }
  std::vector<std::size_t> own;
  for (const wire::Worker& worker : workers) {
    const auto free = std::find_if(places.begin(), places.end(), [](const Place& one) { return !one.taken; });
    own.push_back(static_cast<std::size_t>(free - places.begin()));
    places.resize(std::max(places.size(), own.back() + 1));
    places[own.back()] = {&worker, true};
  }
  std::vector<ShareRequest> requests;
  for (const Place& one : places) requests.push_back({*one.worker, environments_.shared(one.worker->app)});
  ResourceAssignments all = sml::agent::share_out(binding_, {}, requests);
  out.warnings = std::move(all.warnings);
  out.errors = std::move(all.errors);
  for (std::size_t i = 0; i < own.size(); ++i) {
    out.workers[i] = std::move(all.workers[own[i]]);
    out.workers[i].place = own[i];
  }
  return out;
}

void WorkerStarter::keep(std::vector<ResourceAssignment> more) {
  for (ResourceAssignment& share : more) shares_.push_back(std::move(share));
}

// For workers that may come: the variables that matter when Python starts depend on their number, not on their ranks.
std::vector<plan::Environment> WorkerStarter::likely_environments(std::uint32_t count) const {
  constexpr std::uint32_t kMost = 1024;
  const std::vector<wire::Worker> workers(std::min(count, kMost));
  std::vector<ShareRequest> requests;
  for (const wire::Worker& worker : workers) requests.push_back({worker, environments_.shared(0)});
  std::vector<plan::Environment> out;
  for (const ResourceAssignment& share : sml::agent::share_out(binding_, {}, requests).workers) {
    out.push_back(plan::with_job(environments_.shared(0), share.variables));
  }
  return out;
}

std::vector<plan::Environment> WorkerStarter::known_environments(std::uint32_t app) const {
  std::vector<plan::Environment> all;
  for (std::size_t i = 0; i < workers_.count(); ++i) {
    const wire::Worker& spec = workers_.all()[i]->spec();
    if (spec.app != app) continue;
    plan::Environment own = spec.environment;
    append(own, shares_[i].variables);
    if (!mark_.empty()) own.push_back(mark_entry(mark_));
    all.push_back(plan::with_job(environments_.shared(app), own));
  }
  return all;
}

// Imports for the program of the first worker. Variables that are not known yet, or differ between workers, do not
// affect the imports.
void WorkerStarter::preload(const wire::PreloadRequest& request) const {
  const bool has_workers = workers_.count() > 0;
  if (!has_workers && (request.likely == 0 || environments_.count() == 0)) return;
  const std::uint32_t app = has_workers ? workers_.all().front()->spec().app : 0;
  const plan::Environment environment =
      plan::common_environment(has_workers ? known_environments(app) : likely_environments(request.likely));
  Result<os::UniqueFd> nothing = os::open_empty_input();
  deps_.preload.prepare({.modules = request.modules,
                         .limit = std::chrono::milliseconds(request.limit_ms),
                         .argv = environments_.app(app).argv,
                         .process = {.program = environments_.program(app),
                                     .argv = {},
                                     .environment = environment,
                                     .working_directory = environments_.app(app).working_directory,
                                     .stdin_fd = nothing ? nothing->get() : -1,
                                     .descriptor_limit = deps_.at_start.descriptor_limit,
                                     .ignored_signals = deps_.at_start.ignored_signals}});
}

// ---- the start

std::vector<wire::StartedWorker> WorkerStarter::start(MpiWatch& mpi_watch, std::size_t first) {
  os::UniqueFd nothing;
  if (Result<os::UniqueFd> input = os::open_empty_input()) nothing = std::move(*input);
  shares_.resize(workers_.count());
  std::vector<wire::StartedWorker> out;
  for (std::size_t i = first; i < workers_.count(); ++i) {
    Worker& worker = *workers_.all()[i];
    spawn(worker, shares_[i], nothing.get(), mpi_watch);
    if (!worker.machine().alive()) continue;
    workers_.started(worker);
    for (const auto& service : services_) service->worker_started(worker.rank(), worker.pid());
    out.push_back({worker.rank(), worker.pid(), nanoseconds(Clock::now())});
  }
  return out;
}

plan::Environment WorkerStarter::own_variables(const Worker& worker, const ResourceAssignment& share) const {
  plan::Environment out;
  if (!mark_.empty()) out.push_back(mark_entry(mark_));
  append(out, share.variables);
  if (const std::string file = deps_.system.scratch.error_file(worker.rank()); !file.empty()) {
    out.push_back("TORCHELASTIC_ERROR_FILE=" + file);
  }
  for (const auto& service : services_) append(out, service->variables(worker.rank()));
  return out;
}

void WorkerStarter::spawn(Worker& worker, const ResourceAssignment& share, int empty_input, MpiWatch& mpi_watch) {
  const std::uint32_t app = worker.spec().app;
  const auto pipes = static_cast<int>(workers_.count()) * 2;  // results need no large ones
  plan::Environment own = own_variables(worker, share);
  std::vector<os::UniqueFd> keep;
  std::vector<int> descriptors;
  for (const auto& service : services_) {
    Result<std::vector<HostService::OwnDescriptor>> given = service->descriptors(worker.rank());
    if (!given) return worker.give_up({SpawnStep::Pipe, EMFILE});
    for (HostService::OwnDescriptor& one : *given) {
      own.push_back(one.variable + "=" + std::to_string(kFirstOwnDescriptor + descriptors.size()));
      descriptors.push_back(one.descriptor.get());
      keep.push_back(std::move(one.descriptor));
    }
  }
  if (worker.spec().result_pipe == wire::ResultPipe::Yes) {
    own.push_back("SML_RESULTS_FD=" + std::to_string(kFirstOwnDescriptor + descriptors.size()));
  }
  if (mpi_watch.wanted()) {
    mpi_watch.note_offer(worker.rank(), plan::process_manager_entries(own));
    mpi_watch.note_program(worker.rank(), environments_.app(app).argv.front(), environments_.mpi_library(app));
  }
  const plan::Environment environment = environments_.of(worker.spec(), own);
  const std::vector<std::string> argv = environments_.argv(worker.spec());
  worker.spawn({.program = environments_.program(app),
                .argv = argv,
                .environment = environment,
                .working_directory = environments_.app(app).working_directory,
                .empty_input = empty_input,
                .descriptor_limit = deps_.at_start.descriptor_limit,
                .pipe_size = std::min(kWidestPipe, kPipesInAll / pipes),
                .ignored_signals = deps_.at_start.ignored_signals,
                .settings = share.settings,
                .more_descriptors = descriptors,
                .start = [this](const os::WorkerProcess& process) { return deps_.preload.spawn(process); }});
}

}  // namespace sml::agent
