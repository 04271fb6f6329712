// `sml-run train`: the entry point of a SageMaker training container. Translates the job that the platform describes
// below /opt/ml into options, as if they had been given on the command line; then does the work on this machine that
// the job needs first, such as pip install.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"
#include "launcher/transport/background_task.h"

namespace sml {

// The result of prepare_training(): work to do on this machine before the job, and facts about the job.
struct Training {
  std::string own_name;                                 // this machine's name in the job
  std::string folder;                                   // the folder of the sources
  std::string program;                                  // a file that must be made executable; empty: none
  std::vector<std::vector<std::string>> installations;  // commands to run in the folder, one after the other
  std::vector<std::string> warnings;
  bool hosts_call = false;           // sml-run is started on every host of the job, and other hosts take part
  plan::Environment host_variables;  // if hosts call: variables with this host's values
};

// Completes `options`: program and arguments, working directory, number of workers, variables. The command line takes
// precedence. If each host has one worker because no number is given, workers get no variables about the ranks of the
// job, as with the training toolkit. In a job of several hosts the hosts call, unless -H or --hostfile names hosts,
// which are then connected to by SSH. Reads files, and asks `finder` for the hosts where no file of SageMaker lists
// them; installs nothing. Errors are of kind Config, or those of `finder`.
Result<Training> prepare_training(Options& options, const ThisHost& here, HostFinder& finder);

// Sets the file from which the platform reads the reason of a failure, unless --failure-file or --no-failure-file is
// given. In a training container, does so only for `sml-run train` and for a job of version 3 of the SDK; in a
// processing container, always. Elsewhere changes nothing.
void choose_failure_file(Options& options, const ThisHost& here);

// In a SageMaker training job, sets the option that prints progress in lines for algorithm metrics, unless an option
// forbids it. Elsewhere changes nothing.
void choose_progress_lines(Options& options, const ThisHost& here);

// For `sml-run train`: removes the failure file of an earlier job, which the platform would attribute to this one.
// Error (Io) names the file.
Result<void> remove_old_failure(const Options& options, const ThisHost& here);

// Makes the program executable and runs the installations, one after the other; their output goes to stdout and stderr.
// run() blocks; cancel() ends it from another thread. An installation is killed if the thread that runs it ends. Error
// (Deploy) names the failed command, its end, and its last message.
class Installer final : public transport::PreLaunchTask {
 public:
  // Both must outlive this.
  Installer(const Training& training, const ThisHost& here) : training_(training), here_(here) {}

  // Whether there is no work.
  bool empty() const { return training_.program.empty() && training_.installations.empty(); }
  Result<void> run() override;
  void cancel() override;

 private:
  Result<void> step(const std::vector<std::string>& argv);
  Result<pid_t> start(const std::vector<std::string>& argv, int null, int errors);
  Result<int> await(pid_t pid);

  const Training& training_;
  const ThisHost& here_;
  std::mutex mutex_;
  pid_t running_ = 0;  // leads a process group; 0: none runs
  bool cancelled_ = false;
};

}  // namespace sml
