#include "launcher/dialin/place_hint.h"

#include <array>

#include "common/core/text.h"

namespace sml::dialin {

namespace {

using std::string_view;

struct Numbering {
  string_view place;
  // The variable that must equal the number of hosts, or the tasks are not the hosts. Empty: no such variable.
  string_view count;
};
// srun's task variables come before its node variables: with one task for each host both agree, but a node may have
// several.
constexpr std::array kNumberings{
    Numbering{"SLURM_PROCID", "SLURM_NTASKS"},
    Numbering{"SLURM_NODEID", "SLURM_NNODES"},
    Numbering{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    Numbering{"PMI_RANK", "PMI_SIZE"},
    Numbering{"GROUP_RANK", "GROUP_WORLD_SIZE"},
    Numbering{"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
    Numbering{"AWS_BATCH_JOB_NODE_INDEX", "AWS_BATCH_JOB_NUM_NODES"},
    Numbering{"PBS_NODENUM", ""},
    Numbering{"JOB_COMPLETION_INDEX", ""},
    Numbering{"NODE_RANK", ""},
};

std::optional<std::uint32_t> number_in(const plan::Environment& environment, string_view name) {
  const std::string* entry = plan::find_variable(environment, name);
  if (entry == nullptr) return std::nullopt;
  return parse_number<std::uint32_t>(plan::value_of(*entry));
}

}  // namespace

std::optional<PlaceHint> place_hint(const plan::Environment& environment, std::uint32_t hosts) {
  for (const Numbering& numbering : kNumberings) {
    const std::optional<std::uint32_t> place = number_in(environment, numbering.place);
    if (!place || *place >= hosts) continue;
    if (numbering.count.empty() || number_in(environment, numbering.count) == hosts) {
      return PlaceHint{*place, numbering.place};
    }
  }
  return std::nullopt;
}

}  // namespace sml::dialin
