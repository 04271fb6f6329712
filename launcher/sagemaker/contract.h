// What SageMaker tells a container about its job: the files below /opt/ml and a few variables. Reads through `Files`;
// decides nothing.
// Sources: "How Amazon SageMaker Provides Training Information" (developer guide); sagemaker-training-toolkit 5.1,
// environment.py and params.py.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/worker_env.h"
#include "launcher/sagemaker/hyperparameters.h"
#include "launcher/sagemaker/python_value.h"

namespace sml::sagemaker {

// The container as its readers see it; injected so that tests need none.
struct Files {
  std::function<Result<std::string>(const std::string& path, std::size_t limit)> read;  // at most `limit` bytes
  std::function<bool(const std::string& path)> exists;
};

struct InstanceGroup {
  std::string name;
  std::string instance_type;
  std::vector<std::string> hosts;  // in the order of the file, which need not be that of Contract::hosts
};

struct Contract {
  std::string folder;  // "/opt/ml"
  std::string source;  // the resourceconfig.json that was read; empty: there is none, this machine is the only host
  std::string current_host;
  std::vector<std::string> hosts;
  std::string network_interface;  // "eth0" where the file has none
  std::string instance_type;      // of this host; "local" where the file has none
  std::string group;              // of this host; "homogeneousCluster" where the file has none
  std::vector<InstanceGroup> groups;
  Object resource_config;    // the file
  Object input_data_config;  // the file; keys are channels
  Hyperparameters hyperparameters;
};

// "/opt/ml". SAGEMAKER_BASE_DIR moves it: it is what stands before /opt/ml, or, where that is not there, the folder
// itself.
std::string contract_folder(const plan::Environment& environment, const Files& files);

// Each file may be absent. Errors (Config) name the file, the key and what was expected; keys that are not known are
// ignored. `host_name` names the only host when there is no resourceconfig.json.
Result<Contract> read_contract(const plan::Environment& environment, const Files& files, const std::string& host_name);

// The hosts of a job about which no resourceconfig.json tells.
void set_hosts(Contract& contract, std::vector<std::string> hosts, std::string current_host);

// Sorted.
std::vector<std::string> channels_of(const Contract& contract);
std::string channel_folder(const Contract& contract, std::string_view channel);

// The ARN of the processing job, else its name; empty where this container is none's, or its file cannot be read.
// Source: "How Amazon SageMaker Processing Configures Your Processing Container" (developer guide).
std::string processing_job(const plan::Environment& environment, const Files& files);

// The folders of the channels in inputdataconfig.json that the platform has sharded over the hosts; none where the file
// is not there. Errors as of read_contract().
Result<std::vector<std::string>> sharded_folders(const plan::Environment& environment, const Files& files);

// The platform's parameter of that name as text: "1" and 1 are the same. Nothing when it is absent, null or empty.
std::optional<std::string> parameter_text(const Contract& contract, std::string_view name);

}  // namespace sml::sagemaker
