// Effects of a distribution of the SDK other than the number of workers: the preset of its framework, and the variables
// that the training toolkit sets on its launch lines. Pure; only find_efa() looks at this machine, through FileAccess.
// Sources: sagemaker-training-toolkit 5.1 (mpi.py, smdataparallel.py, torch_distributed.py, __init__.py);
// sagemaker-train 1.27 (container_drivers: torchrun_driver.py, mpi_utils.py, common/utils.py);
// sagemaker-tensorflow-training-toolkit 20.4 and sagemaker-mxnet-training-toolkit 4.2 (training.py).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/plan/environment/presets.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/distribution.h"

namespace sml::sagemaker {

// The preset by which TensorFlow's workers learn their place; none on a single host, as with the toolkit, nor where
// SAGEMAKER_TRAINING_MODULE names MXNet's container. Nullopt for distributions whose programs read the variables of
// every worker.
std::optional<plan::Preset> preset_of(const Distribution& distribution, const plan::Environment& environment,
                                      std::size_t hosts);

// Whether this host has an Elastic Fabric Adapter device that the container may use.
enum class Efa : std::uint8_t { Absent, Present };
Efa find_efa(const FileAccess& files);

// The variables of EFA for the instance type, if there is such a device, and those of smdistributed dataparallel. In a
// job of version 3 of the SDK those of its drivers, which go by the instance type alone and name NCCL's interface.
// `hosts` are those that take part, the coordinator first.
plan::Environment framework_variables(const Contract& contract, const Distribution& distribution,
                                      const std::vector<std::string>& hosts, Efa efa);

}  // namespace sml::sagemaker
