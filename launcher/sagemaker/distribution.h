// Translates the settings that the SDK's `distribution=` leaves in a job into the number and placement of workers. Pure
// but for a file that it reads through FileAccess.
// Sources: SageMaker Python SDK 2.257 (fw_utils.py, estimator.py) and 3.0 (modules/distributed.py, container drivers);
// sagemaker-training-toolkit 5.1 and sagemaker-pytorch-training-toolkit 2.8 (training.py).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/mpi_options.h"

namespace sml::sagemaker {

enum class Framework : std::uint8_t {
  None,              // every host runs the program by itself
  Mpi,               // mpi, and smdistributed modelparallel, which uses it
  DataParallel,      // pytorchddp, smdistributed dataparallel
  TorchDistributed,  // torch_distributed, torch-xla
  ParameterServer,   // of TensorFlow or MXNet
  MirroredStrategy,  // MultiWorkerMirroredStrategy of TensorFlow
};

struct Distribution {
  Framework framework = Framework::None;
  std::string source;                      // the key or variable that selects the framework; empty: none
  std::optional<std::uint32_t> per_host;   // workers per host; nullopt: one per device
  std::optional<std::uint32_t> processes;  // of the whole job; nullopt: per_host on every host
  std::vector<std::string> groups;         // instance groups that take part; empty: all
  std::string groups_from = "sagemaker_distribution_instance_groups";  // the source of their names, for messages
  MpiOptions mpi;
};

// Reads the settings of the distribution: those of version 2 of the SDK from the hyperparameters, in the order in which
// the containers check them; else those of version 3, from SM_DISTRIBUTED_CONFIG or
// FOLDER/input/data/sm_drivers/distributed.json. Errors (Config) name key and value.
Result<Distribution> read_distribution(const Contract& contract, const plan::Environment& environment,
                                       const FileAccess& files);

// The hosts that take part in the distribution, in the order of Contract::hosts; the first is the coordinator. Error
// (Config): a group that does not exist, or several groups of which none is selected.
Result<std::vector<std::string>> hosts_of(const Contract& contract, const Distribution& distribution);

}  // namespace sml::sagemaker
