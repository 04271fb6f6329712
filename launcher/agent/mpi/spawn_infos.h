// The info keys that a rank gives to MPI_Comm_spawn, as they come by PMIx. Pure.
#pragma once
#include <string>
#include <vector>

#include "common/plan/ranks/spawn_map.h"
#include "launcher/agent/mpi/pmix_frames.h"

namespace sml::agent::pmix {

struct HeededInfos {
  std::string refusal;                // why the request cannot be met: follows "it"; empty: it can
  std::vector<std::string> unheeded;  // keys of Open MPI that have no effect, as programs write them
};

// Applies each key to `program` by heed_spawn_info() (pmi_spawn.h), under the name that MPI programs give it.
HeededInfos heed(plan::SpawnProgram& program, const std::vector<SpawnInfo>& infos);

}  // namespace sml::agent::pmix
