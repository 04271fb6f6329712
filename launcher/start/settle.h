// Completes the options as given with values that depend on this machine. No code changes them afterwards.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "common/core/error.h"
#include "common/plan/launch_plan.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"
#include "launcher/sagemaker/training.h"

namespace sml {

// Options that settle_options() has completed. Only settle_options() and gathered() make one, and it does not change.
class SettledOptions {
 public:
  const Options& get() const { return options_; }

  // The options of a job that is planned once `hosts` hosts have called, with the shares that they chose. If further
  // hosts may call while the job runs, the maximum is that of --nnodes.
  SettledOptions gathered(std::uint32_t hosts, const plan::HostShares& shares) const;

 private:
  explicit SettledOptions(Options options) : options_(std::move(options)) {}
  friend Result<SettledOptions> settle_options(Options& options, Training& training, HostFinder& finder, ThisHost& here,
                                               const std::function<void(const std::string&)>& warn);

  Options options_;
};

// Completes `options` with facts of this machine, its platform and the files that they name, in this order:
//   1. the hosts that a script lists, in `here`           7. the time for workers to end when the job is stopped
//   2. the failure file, that of an earlier job removed   8. the programs of --app
//   3. where progress goes: to Kubeflow, into the output  9. the line of --array-file
//   4. the pods of an elastic PyTorchJob                 10. train: the sources, fetched
//   5. the time for all hosts to connect                 11. train: the program, its hosts, workers and variables
//   6. the time after which a silent host is lost
// Values given by the user take precedence in each step. `warn` receives warnings. `training` is written in step 11.
// The result replaces `options`, which are empty afterwards. After an error they are partly completed.
Result<SettledOptions> settle_options(Options& options, Training& training, HostFinder& finder, ThisHost& here,
                                      const std::function<void(const std::string&)>& warn);

// Makes a function that reads files as read_own_file() does, and objects in S3. `here` must outlive it.
ReadFile reader_of_objects(const ThisHost& here);

// The options for the plan of a job with `hosts` hosts, with the shares that they chose.
Options options_for_hosts(const Options& options, std::uint32_t hosts, const plan::HostShares& shares);

}  // namespace sml
