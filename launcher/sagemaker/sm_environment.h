// The SM_* variables that user code expects in a SageMaker container, as the training toolkit sets them. Pure.
// Source: sagemaker-training-toolkit 5.1, environment.py (to_env_vars) and mapping.py; for add_v3() and
// is_told_by_v3(): sagemaker-train 1.27, container_drivers/scripts/environment.py.
#pragma once
#include <cstdint>
#include <string>

#include "common/plan/environment/worker_env.h"
#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/distribution.h"
#include "launcher/sagemaker/entry_point.h"

namespace sml::sagemaker {

// Facts that only the host itself can provide.
struct HostFacts {
  std::string name;
  std::uint32_t cpus = 1;  // of the machine
  std::uint32_t gpus = 0;
  std::uint32_t neuron_cores = 0;
  bool has_smddprun = false;  // the launchers of smdistributed are in PATH
  bool has_smddpmprun = false;
};

// The job, as far as it determines the variables.
struct Job {
  const Contract& contract;
  const Distribution& distribution;
  const EntryPoint& entry;
};

// All these variables for `host`, which need not be the host that has read the contract: values that differ by host
// (SM_CURRENT_*, SM_NUM_*, SM_RESOURCE_CONFIG, SM_TRAINING_ENV) are for `host`. Adds CURRENT_HOST, SAGEMAKER_JOB_NAME
// and SAGEMAKER_REGION. Does not change PYTHONPATH and MASTER_*.
// A name that a shell cannot use (SM_HP_LEARNING-RATE) is followed by a copy with underscores, unless another variable
// has that name.
// Returns no variables in a job of version 3 of the SDK if its own are in `environment`: these stay as they are, with
// spellings of their own.
plan::Environment sm_environment(const Job& job, const HostFacts& host, const plan::Environment& environment);

// A value in the form in which the toolkit writes it to a variable.
std::string to_variable(const Value& value);

}  // namespace sml::sagemaker
