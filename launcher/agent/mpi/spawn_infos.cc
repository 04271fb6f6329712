#include "launcher/agent/mpi/spawn_infos.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "launcher/agent/pmi/pmi_spawn.h"

namespace sml::agent::pmix {

namespace {

// Keys that programs know under another name.
struct InfoName {
  std::string_view key;
  std::string_view name;
  bool has_effect;
};
constexpr InfoName kInfoNames[] = {
    {"pmix.hostfile", "hostfile", true}, {"pmix.addhostfile", "add-hostfile", true}, {"pmix.addhost", "add-host", true},
    {"pmix.mapby", "map_by", false},     {"pmix.rankby", "rank_by", false},          {"pmix.bindto", "bind_to", false},
    {"pmix.ppr", "ppr", false},          {"pmix.mapper", "mapper", false},
};

}  // namespace

HeededInfos heed(plan::SpawnProgram& program, const std::vector<SpawnInfo>& infos) {
  HeededInfos out;
  for (const SpawnInfo& info : infos) {
    const auto* const known = std::find_if(std::begin(kInfoNames), std::end(kInfoNames),
                                           [&info](const InfoName& one) { return one.key == info.key; });
    const std::string name(known == std::end(kInfoNames) ? info.key : known->name);
    if (known != std::end(kInfoNames) && !known->has_effect) out.unheeded.push_back(name);
    if (std::string why = heed_spawn_info(program, name, info.value); !why.empty()) out.refusal = std::move(why);
  }
  return out;
}

}  // namespace sml::agent::pmix
