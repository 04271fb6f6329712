// The pods of an elastic PyTorchJob: the operator passes their possible number and their rendezvous endpoint in
// variables for torchrun (Kubeflow training operator, ElasticPolicy).
#pragma once
#include "common/core/error.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// If the job has a secret, and no option is about hosts: makes the pods call the first one as with --nnodes MIN:MAX
// --head, and accepts later pods at once. The job's variables for --max-restarts and --nproc-per-node then apply unless
// these options are given. Otherwise changes nothing. Error (Config): a variable has an invalid value.
Result<void> take_elastic_pods(Options& options, const ThisHost& here);

}  // namespace sml
