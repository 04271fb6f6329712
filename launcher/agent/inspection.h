// This host, for those who ask what it is like.
#pragma once
#include <string>

#include "common/plan/host_facts.h"
#include "common/plan/worker_env.h"

namespace sml::agent {

struct InspectionSettings {
  const plan::Environment& environment;  // of the workers
  std::string working_directory;         // theirs
  unsigned long descriptor_limit = 0;    // their soft limit on open files
};

// All but the programs. Reads /proc, /sys and the file systems that it names; starts and writes nothing. Waits as long
// as these do.
plan::HostFacts inspect_host(const InspectionSettings& settings);

}  // namespace sml::agent
