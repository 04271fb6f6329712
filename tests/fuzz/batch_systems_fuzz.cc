// Any bytes as what a batch system tells: Slurm's lists, LSF's variables, SGE's file, Flux's resources, Kubernetes'
// names. They are refused with one line, or all that comes out is valid.
#include "launcher/hosts/batch/batch_systems.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {
void check(const sml::hosts::FoundHosts& found) {
  if (!found) {
    require(sml::exit_code_of(found.error().kind()) == 2);
    require(found.error().message().find('\n') == std::string::npos && found.error().message().size() < 2000);
    return;
  }
  if (!*found) return;
  require(!(*found)->hosts.empty() && (*found)->hosts.size() <= sml::plan::kMaxHosts);
  for (const sml::plan::Host& host : (*found)->hosts) {
    require(sml::plan::valid_host_name(host.name));
    require(host.slots.value_or(0) <= sml::plan::kMaxSlotsPerHost);
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  const std::string counts = text.substr(text.find('\n') == std::string::npos ? text.size() : text.find('\n') + 1);
  sml::hosts::SourceContext s;
  s.read_file = [&](const std::string&, std::size_t) -> sml::Result<std::string> { return text; };
  s.output_of = [&](const std::vector<std::string>&) { return text; };
  s.host_name = "job-0";
  s.variable = [&](const std::string& name) -> std::optional<std::string> {
    if (name == "SLURM_STEP_NUM_TASKS" || name == "AWS_BATCH_JOB_NUM_NODES") return std::nullopt;
    if (name == "SLURM_TASKS_PER_NODE" || name == "SML_NUM_HOSTS" || name == "PET_NNODES") return counts;
    if (name == "FLUX_TASK_RANK" || name == "LSB_DJOB_HOSTFILE" || name == "PET_NODE_RANK") return std::nullopt;
    if (name == "JOB_COMPLETION_INDEX") return "0";
    return text;
  };
  for (const sml::hosts::BatchSystem& system : sml::hosts::batch_systems()) check(system.find(s));
  return 0;
}
