// `sml-run train`: the entry point of a SageMaker training container. Turns the job that the platform describes below
// /opt/ml into options, as if they had been given on the command line.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "launcher/inputs/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/launch/preparation.h"
#include "launcher/options/options.h"

namespace sml {

// What is to be done on this machine before the job.
struct Training {
  std::string own_name;                                 // by which the job calls this machine
  std::string folder;                                   // of the sources
  std::string program;                                  // a file in it that must be executable; empty: none
  std::vector<std::vector<std::string>> installations;  // to be run in the folder, one after the other
  std::vector<std::string> warnings;
  bool hosts_call = false;           // sml-run is started on every host of the job, and others than this one take part
  plan::Environment host_variables;  // where they call: what is true of this host
};

// Completes `options`: program and arguments, working directory, number of workers, variables. Workers of which there
// is one on each host, as nobody says how many, are told of no world, as the training toolkit has it. What the command
// line says has more say. Reads files; starts nothing. Errors are of kind Config. The hosts of a job of several call
// each other, unless -H says which of them are to be reached by SSH.
Result<Training> prepare_training(Options& options, const ThisHost& here, HostFinder& finder);

// Where the platform looks for the reason of a failure, unless --failure-file or --no-failure-file says otherwise: in a
// training container with `sml-run train`, in a processing container always. Changes nothing elsewhere.
void choose_failure_file(Options& options, const ThisHost& here);

// With `sml-run train`: removes what an earlier job has left where the platform looks for the reason of this one's
// failure. Error (Io) names the file.
Result<void> remove_old_failure(const Options& options, const ThisHost& here);

// Runs the installations; what they print goes to our stdout and stderr. They die with the thread that runs them. Error
// (Deploy) names the command that failed, its end, and what it said.
class Installer final : public launch::Chore {
 public:
  // Both outlive it.
  Installer(const Training& training, const ThisHost& here) : training_(training), here_(here) {}

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
  pid_t running_ = 0;  // leads a process group; 0: none
  bool cancelled_ = false;
};

}  // namespace sml
