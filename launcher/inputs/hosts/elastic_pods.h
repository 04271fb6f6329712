// The pods of an elastic PyTorchJob: the operator passes their possible number and their rendezvous endpoint in
// variables for torchrun (Kubeflow training operator, ElasticPolicy).
#pragma once
#include "common/core/error.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// With a secret, and if no option is about hosts, makes the pods call the first one as with --nnodes MIN:MAX --head,
// and accepts later pods at once; the job's variables for --max-restarts and --nproc-per-node apply unless these
// options are given. Changes nothing elsewhere. Error (Config): a variable has an invalid value.
Result<void> take_elastic_pods(Options& options, const ThisHost& here);

}  // namespace sml
