// Prepares and starts the workers of a host: their programs and variables, their resource assignments, and what
// services give them.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/plan/environment/worker_env.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/resource_assignment.h"
#include "launcher/agent/mpi/mpi_watch.h"
#include "launcher/agent/workers/attempt_deps.h"
#include "launcher/agent/workers/services.h"
#include "launcher/agent/workers/worker_environments.h"
#include "launcher/agent/workers/worker_group.h"

namespace sml::agent {

class WorkerStarter {
 public:
  // `deps`, `workers` and `services` must outlive this object; the last two may be filled after this call, but before
  // their first use. `mark` is Prepare::mark.
  WorkerStarter(const AttemptDeps& deps, std::vector<wire::App> apps, std::string mark, WorkerGroup& workers,
                const HostServices& services);

  WorkerEnvironments& environments() { return environments_; }
  const WorkerEnvironments& environments() const { return environments_; }
  // Assigns processors, memory and devices to the workers of the group. To be called once. Adds errors and what the
  // launcher must know to `answer`, and replaces its warnings.
  void share_out(const wire::Prepare& plan, wire::Prepared& answer);
  std::span<const ResourceAssignment> shares() const { return shares_; }  // in the order of the group; see share_out()
  // Starts the imports of --preload (Preload::prepare()) for the program of the first worker, or, if this host has no
  // workers yet, for the first program. The imports run once for all attempts.
  void preload(const wire::PreloadRequest& request) const;
  // Assigns processors and memory, but no devices, to workers that are to start beside the running ones and are added
  // to the group next, in this order: each takes the slot of a worker that has ended, or a new one.
  ResourceAssignments share_out_more(std::span<const wire::Worker> workers) const;
  // Keeps the assignments that share_out_more() has returned; to be called once their workers are in the group.
  void keep(std::vector<ResourceAssignment> more);
  // Starts the workers of the group from index `first` on; to be called once for each worker. A worker without an
  // assignment starts unbound. Returns the workers that run; each of the others has a report of why it does not
  // (Worker::take_report()).
  std::vector<wire::StartedWorker> start(MpiWatch& mpi_watch, std::size_t first = 0);

 private:
  // The environments, as far as they are known before the start: of `count` workers that may be spawned here, and of
  // the workers of a program.
  std::vector<plan::Environment> likely_environments(std::uint32_t count) const;
  std::vector<plan::Environment> known_environments(std::uint32_t app) const;
  void spawn(Worker& worker, const ResourceAssignment& share, int empty_input, MpiWatch& mpi_watch);
  // The variables of this worker alone: the mark, its assignment, its error file, and the services' variables.
  plan::Environment own_variables(const Worker& worker, const ResourceAssignment& share) const;

  const AttemptDeps& deps_;
  WorkerEnvironments environments_;
  std::string mark_;
  WorkerGroup& workers_;
  const HostServices& services_;
  std::vector<ResourceAssignment> shares_;  // in the order of the group
  plan::BindingRequest binding_;            // Prepare::binding
};

}  // namespace sml::agent
