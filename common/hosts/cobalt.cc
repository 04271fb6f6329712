// Cobalt: a file with the hosts, each once and without a count. Source: MPICH, src/pm/hydra/lib/tools/bootstrap (rmk
// cobalt).
#include "common/hosts/batch_systems.h"

namespace sml::hosts {

FoundHosts cobalt_hosts(const Surroundings& s) {
  const auto file = s.variable("COBALT_NODEFILE");
  if (!s.variable("COBALT_JOBID") || !file) return std::optional<plan::HostList>();
  return hosts_of_file(s, {"COBALT_NODEFILE", *file});
}

}  // namespace sml::hosts
