#include "launcher/hosts/batch/batch_systems.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/hosts/hostfile.h"

namespace sml::hosts {

namespace {

constexpr std::array kBatchSystems{
    BatchSystem{"slurm", "SLURM_JOB_NODELIST", slurm_hosts},
    BatchSystem{"pbs", "PBS_JOBID and PBS_NODEFILE", pbs_hosts},
    BatchSystem{"lsf", "LSB_JOBID, and LSB_DJOB_HOSTFILE, LSB_MCPU_HOSTS or LSB_HOSTS", lsf_hosts},
    BatchSystem{"sge", "JOB_ID and PE_HOSTFILE", sge_hosts},
    BatchSystem{"flux", "FLUX_URI", flux_hosts},
    BatchSystem{"oar", "OAR_JOB_ID and OAR_NODEFILE", oar_hosts},
    BatchSystem{"aws-batch", "AWS_BATCH_JOB_NUM_NODES", aws_batch_hosts},
    BatchSystem{"skypilot", "SKYPILOT_NODE_IPS and SKYPILOT_NODE_RANK", skypilot_hosts},
    BatchSystem{"dstack", "DSTACK_NODES_IPS and DSTACK_NODE_RANK", dstack_hosts},
    BatchSystem{"lws", "LWS_LEADER_ADDRESS and LWS_GROUP_SIZE", lws_hosts},
    BatchSystem{"volcano", "VC_TASK_HOSTS, of any task", volcano_hosts},
    BatchSystem{"pytorchjob", "PET_NNODES", pytorchjob_hosts},
    BatchSystem{"kubernetes", "JOB_COMPLETION_INDEX and SML_NUM_HOSTS", kubernetes_hosts},
    BatchSystem{"mpi",
                "OMPI_MCA_orte_default_hostfile, PRTE_MCA_prte_default_hostfile, HYDRA_HOST_FILE or "
                "I_MPI_HYDRA_HOST_FILE",
                mpi_hosts},
};

}  // namespace

std::span<const BatchSystem> batch_systems() { return kBatchSystems; }

std::optional<NamedValue> first_set(const SourceContext& s, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    NamedValue found{std::string(name), {}};
    const std::optional<std::string> value = s.variable(found.name);
    if (!value) continue;
    found.value = *value;
    return found;
  }
  return std::nullopt;
}

FoundHosts hosts_of_file(const SourceContext& s, const NamedValue& variable) {
  const std::string source = fmt::format("{} {}", variable.name, variable.value);
  const Result<std::string> text = s.read_file(variable.value, kMaxHostfileBytes);
  if (!text) return file_error(source, text.error().message());
  Result<std::vector<plan::Host>> hosts = parse_hostfile(*text, variable.value);
  if (!hosts) return Error(hosts.error()).in(variable.name);
  return std::optional(plan::HostList{std::move(*hosts), source});
}

FoundHosts hosts_of_slot_file(const SourceContext& s, const NamedValue& variable) {
  FoundHosts found = hosts_of_file(s, variable);
  if (!found || !*found) return found;
  for (plan::Host& host : (*found)->hosts) host.slots = host.slots.value_or(1);
  return found;
}

}  // namespace sml::hosts
