#include "launcher/options/values/host_source_names.h"

#include "launcher/hosts/batch/batch_systems.h"

namespace sml {

std::vector<std::string_view> host_source_names() {
  std::vector<std::string_view> names{"hosts",  "discovery", "hostfile", "resource-config",
                                      "nnodes", "step",      "sagemaker"};
  for (const hosts::BatchSystem& system : hosts::batch_systems()) names.push_back(system.name);
  names.insert(names.end(), {"rankfile", "local"});
  return names;
}

}  // namespace sml
