// Collects facts about this host.
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

// Collects all facts but the programs. Reads /proc, /sys and the file systems that it names; starts no process and
// writes nothing. Blocks for as long as these reads do.
plan::HostFacts inspect_host(const InspectionSettings& settings);

}  // namespace sml::agent
