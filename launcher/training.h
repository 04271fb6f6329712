// `sml-run train`: the entry point of a SageMaker training container. Turns the job that the platform describes below
// /opt/ml into options, as if they had been given on the command line.
#pragma once
#include <string>
#include <vector>

#include "common/core/error.h"
#include "launcher/inputs.h"
#include "launcher/options.h"

namespace sml {

// What is to be done on this machine before the job.
struct Training {
  std::string own_name;                                 // by which the job calls this machine
  std::string folder;                                   // of the sources
  std::string program;                                  // a file in it that must be executable; empty: none
  std::vector<std::vector<std::string>> installations;  // to be run in the folder, one after the other
  std::vector<std::string> warnings;
  bool hosts_call = false;           // sml-run is started on every host of the job, of which there are several
  plan::Environment host_variables;  // where they call: what is true of this host
};

// Completes `options`: program and arguments, working directory, number of workers, variables. What the command line
// says has more say. Reads files; starts nothing. Errors are of kind Config. The hosts of a job of several call
// each other, unless -H says which of them are to be reached by SSH.
Result<Training> prepare_training(Options& options, const Machine& machine);

// Where the platform looks for the reason of a failure, unless --failure-file or --no-failure-file says otherwise: in a
// training container with `sml-run train`, in a processing container always. Changes nothing elsewhere.
void choose_failure_file(Options& options, const Machine& machine);

// Runs the installations; what they print goes to our stdout and stderr. Blocks; they die with this thread. Error
// (Deploy) names the command that failed, and its end.
Result<void> install(const Training& training, const Machine& machine);

}  // namespace sml
