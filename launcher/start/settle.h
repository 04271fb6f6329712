// Completes the options as given with values that depend on this machine.
#pragma once
#include <functional>
#include <string>

#include "common/core/error.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"
#include "launcher/sagemaker/training.h"

namespace sml {

// Completes `options` with facts of this machine, its platform and the files that they name, in this order:
//   1. the failure file, that of an earlier job removed   6. the time for workers to end when the job is stopped
//   2. where progress goes: to Kubeflow, into the output  7. the programs of --app
//   3. the pods of an elastic PyTorchJob                  8. the line of --array-file
//   4. the time for all hosts to connect                  9. train: the sources, fetched
//   5. the time after which a silent host is lost        10. train: the program, its hosts, workers and variables
// Values given by the user take precedence in each step. `warn` receives warnings. After an error, `options` are only
// partly completed; it is of kind Usage or Config.
Result<void> settle_options(Options& options, Training& training, HostFinder& finder, const ThisHost& here,
                            const std::function<void(const std::string&)>& warn);

// Reads files that may be objects in S3. `here` must outlive the reader.
ReadFile reader_of_objects(const ThisHost& here);

}  // namespace sml
