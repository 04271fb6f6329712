// What the workers of a host get when they start: their programs and variables, each its share of the host, and what
// services give it.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/plan/worker_env.h"
#include "common/wire/messages.h"
#include "launcher/agent/attempt_surroundings.h"
#include "launcher/agent/mpi_watch.h"
#include "launcher/agent/services.h"
#include "launcher/agent/shares.h"
#include "launcher/agent/worker_environments.h"
#include "launcher/agent/worker_group.h"

namespace sml::agent {

class WorkerStarter {
 public:
  // `workers` and `services` outlive this; they are filled before their first use here. `mark`: Prepare::mark.
  WorkerStarter(const AttemptSurroundings& around, std::vector<wire::App> apps, std::string mark, WorkerGroup& workers,
                const HostServices& services);

  WorkerEnvironments& environments() { return environments_; }
  const WorkerEnvironments& environments() const { return environments_; }
  // Once. What stands in the way, and what is to be known, is added to `answer`.
  void share_out(const wire::Prepare& plan, wire::Prepared& answer);
  std::span<const WorkerShare> shares() const { return shares_; }  // by worker, once shared out
  // As far as it is not done.
  void preload(const wire::PreloadWish& wish) const;
  // See WorkerEnvironments::add().
  std::vector<Error> add_programs(std::vector<wire::App> apps) {
    return environments_.add(std::move(apps), around_.login);
  }
  // For workers that are to come beside those that run, and to be added to the group next, in this order: each takes
  // the place of one that has ended, or the next. Processors and memory alone.
  Shares share_out_more(std::span<const wire::Worker> workers) const;
  // What follows from it, once they are in the group.
  void keep(std::vector<WorkerShare> more);
  // Once for each: of the group from `first` on; what is not shared out has no share. Those that run; the others tell
  // by themselves why they do not.
  std::vector<wire::StartedWorker> start(MpiWatch& mpi_watch, std::size_t first = 0);

 private:
  std::vector<plan::Environment> likely_environments(std::uint32_t count) const;
  std::vector<plan::Environment> known_environments(std::uint32_t app) const;
  void spawn(Worker& worker, const WorkerShare& share, int empty_input, MpiWatch& mpi_watch);
  plan::Environment own_variables(const Worker& worker, const WorkerShare& share) const;

  const AttemptSurroundings& around_;
  WorkerEnvironments environments_;
  std::string mark_;
  WorkerGroup& workers_;
  const HostServices& services_;
  std::vector<WorkerShare> shares_;
  plan::BindingWish binding_;
};

}  // namespace sml::agent
