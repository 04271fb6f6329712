// From the options as they were given to those that hold here.
#pragma once
#include <functional>
#include <string>

#include "common/core/error.h"
#include "launcher/inputs/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"
#include "launcher/sagemaker/training.h"

namespace sml {

// Completes `options` by what this machine, its platform and the files that they name say, in this order:
//   1. the failure file, that of an earlier job removed   6. the programs of --app
//   2. the pods of an elastic PyTorchJob                  7. the line of --array-file
//   3. the time for all hosts to come                     8. train: the sources, fetched
//   4. the time after which a silent host is lost         9. train: the program, its hosts, workers and variables
//   5. the time for workers to end when the job is stopped
// What the user has said has more say each time. `warn` is told what is odd. After an error `options` are as far as
// they came; it is of kind Usage or Config.
Result<void> settle_options(Options& options, Training& training, HostFinder& finder, const ThisHost& here,
                            const std::function<void(const std::string&)>& warn);

// For files that may be objects in S3. `here` outlives it.
ReadFile reader_of_objects(const ThisHost& here);

}  // namespace sml
