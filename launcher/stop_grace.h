// How long workers may take to end when the platform stops the job.
#pragma once
#include <string>
#include <vector>

#include "launcher/inputs.h"
#include "launcher/options.h"

namespace sml {

// In containers, where the platform kills what has not ended some time after TERM: SageMaker after 120 s, AWS Batch and
// Kubernetes after 30 s. Sets options.stop_grace, where it is not given, to what leaves us time to end in order; takes
// back what is longer, and answers a warning then. Elsewhere changes nothing.
std::vector<std::string> choose_stop_grace(Options& options, const Machine& machine);

}  // namespace sml
