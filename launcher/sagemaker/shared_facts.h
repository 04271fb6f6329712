// Data that SageMaker gives to all hosts of one training or processing job, and that hardly anyone else has: hosts that
// call can make their job key of it. Reads files through FileAccess, and touches nothing else.
#pragma once
#include <string>

#include "common/plan/environment/worker_env.h"
#include "launcher/sagemaker/contract.h"

namespace sml::sagemaker {

// Whether this is a container of a training job: the platform names the job and has left its resourceconfig.json.
bool is_training_job(const plan::Environment& environment, const FileAccess& files);

// A text that is the same on every host of a job: its ARN and name, and its files, in a form that does not depend on
// their layout. resourceconfig.json differs by host; only the part that all hosts share is used. Empty outside of
// SageMaker containers.
std::string shared_facts(const plan::Environment& environment, const FileAccess& files);

}  // namespace sml::sagemaker
