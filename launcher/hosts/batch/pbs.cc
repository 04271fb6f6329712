// PBS Pro, OpenPBS, Torque: PBS_NODEFILE names a file with one host per MPI process (mpiprocs, ppn). Source: PBS
// Professional Reference Guide, "Environment Variables"; Torque Administrator Guide, "Job Submission".
#include "launcher/hosts/batch/batch_systems.h"

namespace sml::hosts {

FoundHosts pbs_hosts(const SourceContext& s) {
  const auto file = s.variable("PBS_NODEFILE");
  const bool in_job = s.variable("PBS_JOBID") || s.variable("PBS_ENVIRONMENT");
  if (!in_job || !file) return std::optional<plan::HostList>();
  return hosts_of_slot_file(s, {"PBS_NODEFILE", *file});
}

}  // namespace sml::hosts
