// Makes the services of a host's workers.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/resource_assignment.h"
#include "launcher/agent/workers/worker_environments.h"

namespace sml::agent {

using HostServices = std::vector<std::unique_ptr<HostService>>;

// Makes the services that the plan asks for, in the order in which they are checked and started; if two set the same
// variable, the later one wins. `workers` are the workers of this host, whose programs `environments` has; `shares` are
// their assignments, in the same order. Moves out of the plan what services keep.
HostServices make_services(wire::Prepare& plan, const std::vector<const wire::Worker*>& workers,
                           std::span<const ResourceAssignment> shares, const WorkerEnvironments& environments,
                           const ServiceContext& context);

}  // namespace sml::agent
