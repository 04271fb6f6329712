// What a distribution of the SDK means beside the number of workers: the preset of its framework, and the variables
// that the training toolkit puts on its own launch lines. Pure. Sources: sagemaker-training-toolkit 5.1 (mpi.py,
// smdataparallel.py, torch_distributed.py, __init__.py); sagemaker-tensorflow-training-toolkit 20.4 and
// sagemaker-mxnet-training-toolkit 4.2 (training.py).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/plan/presets.h"
#include "common/plan/worker_env.h"
#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/distribution.h"

namespace sml::sagemaker {

// By which TensorFlow or MXNet learns its place. parameter_server is MXNet's where SAGEMAKER_TRAINING_MODULE names that
// framework's container, else TensorFlow's, which on one host is told nothing, as by the toolkit. Nothing for
// distributions whose programs read what every worker has.
std::optional<plan::Preset> preset_of(const Distribution& distribution, const plan::Environment& environment,
                                      std::size_t hosts);

// Whether this host has a device of the Elastic Fabric Adapter that the container may use.
enum class Efa : std::uint8_t { Absent, Present };
Efa find_efa(const Files& files);

// EFA's variables by instance type, where there is such a device, and those of smdistributed dataparallel. `hosts` are
// those that take part, the head first.
plan::Environment framework_variables(const Contract& contract, const Distribution& distribution,
                                      const std::vector<std::string>& hosts, Efa efa);

}  // namespace sml::sagemaker
