// The pods of an elastic PyTorchJob: the operator says in variables for torchrun how many there may be, and where they
// meet (Kubeflow training operator, ElasticPolicy).
#pragma once
#include "common/core/error.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// With a secret, and where no option says of hosts, they call the first as with --nnodes MIN:MAX --head, and those that
// come later are let in at once; --max-restarts and --nproc-per-node are the job's unless they are given. Changes
// nothing in any other place. Error (Config): a variable that is not what it has to be.
Result<void> take_elastic_pods(Options& options, const ThisHost& here);

}  // namespace sml
