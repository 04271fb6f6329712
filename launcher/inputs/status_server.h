// Kubeflow Trainer's server for the status of a TrainJob: the controller names it in variables of each pod.
// Source: KEP-2779 of kubeflow/trainer.
#pragma once
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Sets the server to which progress goes, where KUBEFLOW_TRAINER_SERVER_URL and ..._TOKEN are set and no option
// forbids it. Reads no file.
void choose_status_server(Options& options, const ThisHost& here);

}  // namespace sml
