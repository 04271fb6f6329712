// Where the hosts come from: which of the sources that are there wins.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/plan/host.h"
#include "launcher/inputs/inputs.h"
#include "launcher/options/options.h"

namespace sml {

inline constexpr std::string_view kThisMachine = "this machine";
inline constexpr std::string_view kSecretVariable = "SML_JOB_SECRET";

// The first of --hosts, --hostfile, --resource-config, --nnodes, SageMaker's files (training, then processing, below
// $SAGEMAKER_BASE_DIR), the batch systems (common/hosts/batch_systems.h) that is there, else this machine; or the one
// that --host-source names, and no other. Where SageMaker's files and a batch system name different hosts, and this
// machine is one of the latter's, that job is the one we run in: the file lies in the image. A source that is there but
// cannot be read is an error, not passed over.
Result<plan::HostList> find_hosts(const Options& options, const Machine& machine);

// A clause for the user where SageMaker's file and a batch system are both there and name different hosts, and one of
// them is `chosen`; else empty. As find_hosts(), it takes the batch system's where this machine is one of them.
std::string contradiction(const Options& options, const Machine& machine, const plan::HostList& chosen);

// Whether a platform starts sml-run on every host of its job, so that they call the first.
bool hosts_call(const Options& options, const Machine& machine);

}  // namespace sml
