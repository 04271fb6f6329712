// OAR: a file with one host per reserved core. Source: OAR user documentation, "Environment variables". The hosts of an
// OAR job are reached with oarsh.
#include <array>

#include "launcher/hosts/batch/batch_systems.h"

namespace sml::hosts {

FoundHosts oar_hosts(const SourceContext& s) {
  constexpr std::array<std::string_view, 4> kFiles{"OAR_NODEFILE", "OAR_NODE_FILE", "OAR_FILE_NODES",
                                                   "OAR_RESOURCE_FILE"};
  const auto file = first_set(s, kFiles);
  if (!s.variable("OAR_JOB_ID") || !file) return std::optional<plan::HostList>();
  FoundHosts found = hosts_of_slot_file(s, *file);
  if (found) (*found)->slots_are = plan::SlotsAre::Capacity;
  return found;
}

}  // namespace sml::hosts
