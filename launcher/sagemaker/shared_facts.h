// What SageMaker tells all hosts of a training or processing job alike, and hardly anybody else. Pure.
#pragma once
#include <string>

#include "common/plan/worker_env.h"
#include "launcher/sagemaker/contract.h"

namespace sml::sagemaker {

// The same text on every host of a job: its ARN and name, and its files in a form that does not depend on how they are
// written. Of resourceconfig.json, which also tells each host which one it is, what all have in common. Empty: this is
// no container of SageMaker's.
std::string shared_facts(const plan::Environment& environment, const Files& files);

}  // namespace sml::sagemaker
