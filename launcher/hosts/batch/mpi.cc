// Host files that an MPI launcher would find by itself: the MPI operator of Kubernetes sets these variables in its
// launcher's pod (v2beta1: /etc/mpi/hostfile), and so do users. The value "none" of Open MPI means no file.
#include <array>

#include "launcher/hosts/batch/batch_systems.h"

namespace sml::hosts {

FoundHosts mpi_hosts(const SourceContext& s) {
  constexpr std::array<std::string_view, 4> kFiles{"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile",
                                                   "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"};
  const auto file = first_set(s, kFiles);
  if (!file || file->value == "none") return std::optional<plan::HostList>();
  return hosts_of_file(s, *file);
}

}  // namespace sml::hosts
