#include "launcher/agent/workers/worker_environments.h"

#include <algorithm>
#include <utility>

#include "common/core/interfaces.h"
#include "common/core/text.h"
#include "common/plan/environment/rendezvous_variables.h"
#include "common/plan/program/horovod_use.h"
#include "launcher/agent/core/host_files.h"
#include "launcher/agent/core/route_interface.h"
#include "launcher/agent/mpi/mpi_watch.h"
#include "launcher/agent/mpi/pmix_library.h"
#include "launcher/agent/workers/programs.h"

namespace sml::agent {

WorkerEnvironments::WorkerEnvironments(Network& network, std::vector<wire::App> apps, const plan::Environment& login)
    : network_(network) {
  add(std::move(apps), login);
}

void WorkerEnvironments::compose(const wire::App& app, const plan::Environment& login) {
  shared_.push_back(plan::compose({.base = app.base,
                                   .login = login,
                                   .launcher = app.launcher_environment,
                                   .user = app.user_environment,
                                   .job = {},
                                   .working_directory = app.working_directory}));
}

void WorkerEnvironments::add(std::vector<wire::App> apps, const plan::Environment& login) {
  for (wire::App& app : apps) {
    compose(app, login);
    apps_.push_back(std::move(app));
  }
}

void WorkerEnvironments::take_programs(WorkerEnvironments copy) {
  apps_ = std::move(copy.apps_);
  shared_ = std::move(copy.shared_);
  programs_ = std::move(copy.programs_);
  mpi_chances_ = std::move(copy.mpi_chances_);
  mpi_libraries_ = std::move(copy.mpi_libraries_);
  horovod_ = std::move(copy.horovod_);
  mpi_ = std::move(copy.mpi_);
}

std::vector<Error> WorkerEnvironments::find_programs() {
  const std::size_t first = mpi_.size();
  std::vector<Error> out;
  programs_.resize(apps_.size());
  for (std::size_t i = first; i < apps_.size(); ++i) {
    if (Result<std::string> found = find_program(apps_[i], shared_[i])) {
      programs_[i] = std::move(*found);
    } else {
      out.push_back(found.error());
    }
  }
  for (auto i = static_cast<std::uint32_t>(first); i < apps_.size(); ++i) {
    if (Result<void> meets = check_horovod(i); !meets) out.push_back(meets.error());
    mpi_chances_.push_back(plan::mpi_chance(reader_of(path(i)), shared_[i]));
    mpi_libraries_.push_back(path(i).empty() ? std::string() : linked_mpi_library(path(i), shared_[i]));
    horovod_.push_back(how_horovod_meets(i));
    mpi_.push_back(find_mpi(i));
  }
  return out;
}

std::string WorkerEnvironments::path(std::uint32_t index) const {
  const std::string& program = programs_[index];
  if (program.empty() || program.starts_with('/')) return program;
  return apps_[index].working_directory + "/" + program;
}

plan::CommandLine WorkerEnvironments::command_line(std::uint32_t index) const {
  return {path(index), apps_[index].argv, apps_[index].working_directory};
}

plan::MpiFinding WorkerEnvironments::find_mpi(std::uint32_t index) const {
  plan::MpiFinding out{.library = mpi_library(index), .chance = mpi_chances_[index]};
  if (plan::has_process_manager(shared_[index])) out.owner = plan::MpiOwner::Other;
  out.dialect = plan::dialect_of(out.library);
  if (out.dialect != plan::MpiDialect::Unknown || out.chance == plan::MpiChance::No) return out;
  out.seen_in = plan::open_mpi_user(command_line(index), shared_[index], host_files());
  if (!out.seen_in.empty()) out.dialect = plan::MpiDialect::Pmix;
  return out;
}

Result<void> WorkerEnvironments::check_horovod(std::uint32_t index) const {
  const plan::Environment& variables = apps_[index].user_environment;
  const auto misfit = plan::horovod_misfit(command_line(index), shared_[index], variables, host_files());
  if (!misfit) return {};
  return Error(ErrorKind::Config, misfit->variable + ", but " + show(misfit->file) + " was built without it")
      .with_hint("leave that out, or build Horovod with it (HOROVOD_WITH_MPI=1, HOROVOD_WITH_GLOO=1)");
}

WorkerEnvironments::Horovod WorkerEnvironments::how_horovod_meets(std::uint32_t index) const {
  if (mpi_chances_[index] == plan::MpiChance::No) return Horovod::AtStore;
  const std::string found = plan::horovod_over_mpi(command_line(index), shared_[index], host_files());
  return found.empty() ? Horovod::AtStore : Horovod::ByMpi;
}

std::vector<wire::MpiUse> WorkerEnvironments::find_mpi_singletons(std::span<const wire::Worker* const> workers,
                                                                  plan::PmiMode pmi_mode) const {
  std::vector<wire::MpiUse> out;
  for (std::uint32_t i = 0; i < apps_.size(); ++i) {
    const std::string& library = mpi_library(i);
    if (plan::brings_together(pmi_mode, plan::dialect_of(library))) continue;
    const auto runs_it = [i](const wire::Worker* worker) { return worker->app == i; };
    const auto first = std::find_if(workers.begin(), workers.end(), runs_it);
    if (library.empty() || first == workers.end()) continue;
    out.push_back({(*first)->rank, 0, apps_[i].argv.front(), library});
  }
  return out;
}

bool WorkerEnvironments::might_use_mpi() const {
  return std::find(mpi_chances_.begin(), mpi_chances_.end(), plan::MpiChance::Yes) != mpi_chances_.end();
}

Result<std::vector<std::string>> WorkerEnvironments::choose_interfaces(const std::vector<std::string>& wanted) {
  if (wanted.empty()) return std::vector<std::string>();
  Result<ChosenInterfaces> chosen = sml::choose_interfaces(wanted, network_.interface_addresses());
  if (!chosen) return chosen.error();
  interfaces_ = std::move(chosen->names);
  return std::move(chosen->addresses);
}

void WorkerEnvironments::meet(wire::Start& message) {
  rendezvous_ = std::move(message.rendezvous);
  wire::unpack_environments(message);
  for (wire::RankVariables& of_rank : message.variables) of_rank_[of_rank.rank] = std::move(of_rank.environment);
  if (!interfaces_.empty()) {
    interface_ = interface_variables(interfaces_);
  } else if (const std::string* address = plan::find_variable(rendezvous_, "MASTER_ADDR")) {
    const std::string towards = network_.interface_towards(std::string(plan::value_of(*address)));
    if (!towards.empty()) interface_ = interface_variables(std::span<const std::string>(&towards, 1));
  }
}

std::vector<std::string> WorkerEnvironments::argv(const wire::Worker& worker) const {
  const wire::App& app = apps_[worker.app];
  std::vector<std::string> out = app.argv;
  if (app.local_rank_at == 0 || app.local_rank_at > out.size()) return out;
  out.insert(out.begin() + app.local_rank_at, "--local_rank=" + std::to_string(worker.local_rank.value()));
  return out;
}

plan::Environment WorkerEnvironments::of(const wire::Worker& worker, const plan::Environment& own) const {
  plan::Environment job = worker.environment;
  job.insert(job.end(), own.begin(), own.end());
  const plan::Environment& users = apps_[worker.app].user_environment;
  for (const std::string& variable : rendezvous_) {
    const std::string_view name = plan::name_of(variable);
    if (horovod_[worker.app] == Horovod::ByMpi && plan::selects_controller(name)) continue;
    if (!plan::user_decides(name) || plan::find_variable(users, name) == nullptr) job.push_back(variable);
  }
  // --interface overrides inherited variables, but not -x.
  const plan::Environment& stronger = interfaces_.empty() ? shared_[worker.app] : users;
  for (const std::string& variable : interface_) {
    if (plan::find_variable(stronger, plan::name_of(variable)) == nullptr) job.push_back(variable);
  }
  if (apps_[worker.app].world == plan::WorldTold::No) {
    std::erase_if(job, [](const std::string& entry) { return plan::tells_of_world(plan::name_of(entry)); });
  }
  if (const auto more = of_rank_.find(worker.rank); more != of_rank_.end()) {
    job.insert(job.end(), more->second.begin(), more->second.end());
  }
  return plan::with_job(shared_[worker.app], job);
}

}  // namespace sml::agent
