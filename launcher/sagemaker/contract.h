// The contract: the description of a job that SageMaker gives its containers, in files below /opt/ml and in a few
// variables. This header reads it through FileAccess, and decides nothing.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/inputs/file_access.h"
#include "launcher/sagemaker/hyperparameters.h"
#include "launcher/sagemaker/python_value.h"

namespace sml::sagemaker {

// Reads a file that describes the job. Error (Config): it cannot be read, or SAGEMAKER_BASE_DIR has moved it to where
// another user can change it; see hosts::belongs_to_sagemaker().
Result<std::string> read_job_file(const FileAccess& files, const std::string& path, std::size_t limit);

struct InstanceGroup {
  std::string name;
  std::string instance_type;
  std::vector<std::string> hosts;  // in the order of the file, which may differ from Contract::hosts
};

// The version of the Python SDK that made the job. Version 3 sends scripts of its own to the job, in a channel, and its
// rules differ.
enum class Sdk : std::uint8_t { V2, V3 };

struct Contract {
  std::string folder;  // "/opt/ml"
  std::string source;  // the resourceconfig.json that was read; empty: there is none, and this machine is the only host
  std::string current_host;  // the name of this host in `hosts`
  std::vector<std::string> hosts;
  std::string network_interface;  // "eth0" if the file gives none
  std::string instance_type;      // of this host; "local" if the file gives none
  std::string group;              // of this host; "homogeneousCluster" if the file gives none
  std::vector<InstanceGroup> groups;
  Object resource_config;    // contents of the file
  Object input_data_config;  // contents of the file; keys are channels
  Hyperparameters hyperparameters;
  Sdk sdk = Sdk::V2;
};

// Paths of version 3 of the SDK below Contract::folder. Source: sagemaker-train 1.27, constants.py and templates.py.
inline constexpr std::string_view kV3Scripts = "/input/data/sm_drivers";
inline constexpr std::string_view kV3Sources = "/input/data/code";

// "/opt/ml", or its place below SAGEMAKER_BASE_DIR: that variable is the prefix of /opt/ml or, if that does not exist,
// the folder itself.
std::string contract_folder(const plan::Environment& environment, const FileAccess& files);

// Reads the contract. Each file may be missing. Errors (Config) name the file, the key and the expected value; unknown
// keys are ignored. `host_name` is the name of the only host if there is no resourceconfig.json.
Result<Contract> read_contract(const plan::Environment& environment, const FileAccess& files,
                               const std::string& host_name);

// Sets the hosts of a job without resourceconfig.json.
void set_hosts(Contract& contract, std::vector<std::string> hosts, std::string current_host);

// The names of the channels, sorted.
std::vector<std::string> channels_of(const Contract& contract);
// The folder of a channel on every host.
std::string channel_folder(const Contract& contract, std::string_view channel);

// The ARN of the processing job, else its name; empty if this container belongs to none, or if its file cannot be read.
// Source: "How Amazon SageMaker Processing Configures Your Processing Container" (developer guide).
std::string processing_job(const plan::Environment& environment, const FileAccess& files);

// The folders of the channels in inputdataconfig.json that the platform has sharded over the hosts; empty without the
// file. Errors as from read_contract().
Result<std::vector<std::string>> sharded_folders(const plan::Environment& environment, const FileAccess& files);

// A hyperparameter of the platform as text: "1" and 1 are the same. Nullopt if it is missing, null or empty.
std::optional<std::string> parameter_text(const Contract& contract, std::string_view name);

}  // namespace sml::sagemaker
