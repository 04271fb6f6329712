#include "launcher/sagemaker/frameworks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace sml::sagemaker {

namespace {

struct EfaType {
  std::string_view instance_type;
  bool rdma;
};
constexpr std::array kEfaTypes{
    EfaType{"ml.g4dn.8xlarge", false},      EfaType{"ml.g4dn.12xlarge", false}, EfaType{"ml.g5.48xlarge", false},
    EfaType{"ml.p3dn.24xlarge", false},     EfaType{"ml.p4d.24xlarge", true},   EfaType{"ml.p4de.24xlarge", true},
    EfaType{"ml.p5.48xlarge", true},        EfaType{"ml.p5e.48xlarge", true},   EfaType{"ml.trn1.32xlarge", true},
    EfaType{"ml.p6e-gb200.36xlarge", true},
};

// Types that the drivers of version 3 do not know yet, and which have the adapter.
constexpr std::array kNewEfaTypes{
    EfaType{"ml.p5en.48xlarge", true},
    EfaType{"ml.p6-b200.48xlarge", true},
    EfaType{"ml.p6-b300.48xlarge", true},
    EfaType{"ml.trn2.48xlarge", true},
};

bool uses_efa(Framework framework) {
  return framework == Framework::Mpi || framework == Framework::DataParallel ||
         framework == Framework::TorchDistributed;
}

// The toolkit's mpirun line for mpi does not set RDMAV_FORK_SAFE.
void add_efa(plan::Environment& out, Framework framework, bool rdma) {
  out.insert(out.end(), {"FI_PROVIDER=efa", "NCCL_PROTO=simple"});
  if (rdma) out.emplace_back("FI_EFA_USE_DEVICE_RDMA=1");
  const bool forks = framework == Framework::DataParallel || (framework == Framework::TorchDistributed && rdma);
  if (forks) out.emplace_back("RDMAV_FORK_SAFE=1");
}

const EfaType* find_type(std::span<const EfaType> types, std::string_view name) {
  const auto type =
      std::find_if(types.begin(), types.end(), [&](const EfaType& row) { return row.instance_type == name; });
  return type == types.end() ? nullptr : &*type;
}

// As the drivers of version 3 set them for torchrun and for mpirun.
plan::Environment v3_variables(const Contract& contract, Framework framework) {
  if (!uses_efa(framework)) return {};
  const bool torch = framework == Framework::TorchDistributed;
  const EfaType* type = find_type(kEfaTypes, contract.instance_type);
  if (type == nullptr) type = find_type(kNewEfaTypes, contract.instance_type);
  plan::Environment out{"NCCL_SOCKET_IFNAME=" + contract.network_interface};
  if (torch || type != nullptr) out.emplace_back("NCCL_PROTO=simple");
  if (type == nullptr) return out;
  out.emplace_back("FI_PROVIDER=efa");
  if (type->rdma) out.emplace_back("FI_EFA_USE_DEVICE_RDMA=1");
  if (type->rdma && torch) out.emplace_back("RDMAV_FORK_SAFE=1");
  return out;
}

// The type of this host; in a heterogeneous job, that of the job, which smdistributed gets, may differ.
std::string instance_type_of(const Contract& contract) {
  return parameter_text(contract, "sagemaker_instance_type").value_or(contract.instance_type);
}

void add_data_parallel(plan::Environment& out, const Contract& contract, const std::vector<std::string>& hosts) {
  constexpr int kServerPort = 7592;
  if (hosts.size() < 2) {
    out.emplace_back("SMDATAPARALLEL_USE_SINGLENODE=1");
    return;
  }
  out.emplace_back("SMDATAPARALLEL_USE_HOMOGENEOUS=1");
  out.push_back("SMDATAPARALLEL_SERVER_ADDR=" + hosts.front());
  out.push_back(fmt::format("SMDATAPARALLEL_SERVER_PORT={}", kServerPort));
  out.push_back("SAGEMAKER_INSTANCE_TYPE=" + instance_type_of(contract));
}

}  // namespace

std::optional<plan::Preset> preset_of(const Distribution& distribution, const plan::Environment& environment,
                                      std::size_t hosts) {
  if (distribution.framework == Framework::MirroredStrategy) return plan::Preset::Tf;
  if (distribution.framework != Framework::ParameterServer) return std::nullopt;
  const std::string* module = plan::find_variable(environment, "SAGEMAKER_TRAINING_MODULE");
  if (module != nullptr && plan::value_of(*module).find("mxnet") != std::string_view::npos) return std::nullopt;
  return hosts > 1 ? std::optional(plan::Preset::Tf) : std::nullopt;
}

// The driver's folder belongs to the machine; the devices exist only if the container was given them.
Efa find_efa(const FileAccess& files) {
  const bool present = files.exists("/sys/module/efa") && files.exists("/dev/infiniband/uverbs0");
  return present ? Efa::Present : Efa::Absent;
}

plan::Environment framework_variables(const Contract& contract, const Distribution& distribution,
                                      const std::vector<std::string>& hosts, Efa efa) {
  if (contract.sdk == Sdk::V3) return v3_variables(contract, distribution.framework);
  plan::Environment out;
  const EfaType* type = find_type(kEfaTypes, contract.instance_type);
  const bool known = type != nullptr && efa == Efa::Present;
  if (known && uses_efa(distribution.framework)) add_efa(out, distribution.framework, type->rdma);
  if (distribution.framework == Framework::DataParallel) add_data_parallel(out, contract, hosts);
  return out;
}

}  // namespace sml::sagemaker
