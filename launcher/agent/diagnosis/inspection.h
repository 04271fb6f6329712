// Collects facts about the host on which the agent runs.
#pragma once
#include <string>

#include "common/plan/environment/worker_env.h"
#include "common/plan/host_facts.h"

namespace sml::agent {

struct InspectionSettings {
  const plan::Environment& environment;  // of the workers
  std::string working_directory;         // of the workers
  unsigned long descriptor_limit = 0;    // the workers' soft limit on open files
};

// Collects all facts but HostFacts::programs and HostFacts::mpi, which stay empty. Reads /proc and /sys, and asks for
// the free space of the file systems that it names in the result; starts no process and writes nothing. Blocks for as
// long as these calls do.
plan::HostFacts inspect_host(const InspectionSettings& settings);

}  // namespace sml::agent
