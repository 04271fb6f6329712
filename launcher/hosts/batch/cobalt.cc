// Cobalt: a file that lists each host once, without a number of slots. Source: MPICH, src/pm/hydra/lib/tools/bootstrap
// (rmk cobalt).
#include "launcher/hosts/batch/batch_systems.h"

namespace sml::hosts {

FoundHosts cobalt_hosts(const SourceContext& s) {
  const auto file = s.variable("COBALT_NODEFILE");
  if (!s.variable("COBALT_JOBID") || !file) return std::optional<plan::HostList>();
  return hosts_of_file(s, {"COBALT_NODEFILE", *file});
}

}  // namespace sml::hosts
