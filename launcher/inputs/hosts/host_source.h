// Decides where the hosts of a job come from: which of the available sources wins.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/step.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

inline constexpr std::string_view kThisHost = "this machine";
inline constexpr std::string_view kSecretVariable = "SML_JOB_SECRET";

// The name that stands for a host whose own name is unknown: `place` is its index among the hosts of --nnodes.
std::string name_of_place(std::uint32_t place);

// The step of a batch system (launcher/hosts/step.h) that has started sml-run on every host of the job. nullopt if none
// did, if it cannot be parsed, in a training job of SageMaker, or if its number of hosts is not that of --nnodes: then
// several jobs share a step, or one job has several.
std::optional<hosts::Step> step_of_job(const Options& options, const ThisHost& here);

struct HostSource;

// Queries the sources of hosts. Reads files and runs programs, and blocks while it does; the results are kept in this
// object, by source and the options that it depends on. `here` outlives this.
class HostFinder {
 public:
  explicit HostFinder(const ThisHost& here) : here_(here) {}

  // Uses the first available one of --hosts, --host-discovery-script, --hostfile, --resource-config, --nnodes, a step
  // that has started sml-run on every host (launcher/hosts/step.h), SageMaker's files (training, then processing, below
  // $SAGEMAKER_BASE_DIR), the batch systems (launcher/hosts/batch/batch_systems.h) and --rankfile, else this machine;
  // or only the one that --host-source names. If SageMaker's files and a batch system name different hosts, and this
  // machine is one of the latter's, the batch job wins: SageMaker's files may just be part of the container's image. A
  // batch system that has started sml-run several times is an error where its hosts, or those of SageMaker's training
  // file, would be used: each instance would run the whole job.
  // An available source that cannot be read is an error, and is not skipped.
  Result<plan::HostList> find(const Options& options);

  // A part of a sentence for the user if SageMaker's files and a batch system name different hosts, and `chosen` is one
  // of these two lists; else empty. It names the one that is used, as find() decides.
  std::string contradiction(const Options& options, const plan::HostList& chosen);

  // Whether a platform starts sml-run on every host of its job, so that the others connect to the first.
  bool hosts_call(const Options& options);

  // The hosts of the job of that batch system, wherever those of the plan come from; nullopt outside of such a job, or
  // if they cannot be read. `system`: as --host-source names it.
  std::optional<plan::HostList> hosts_of_job(std::string_view system, const Options& options);

  // Whether hosts may not be up yet when sml-run starts: Kubernetes, the MPI operator and clouds start
  // all hosts of a job at the same time, or give their names before they have their addresses.
  bool may_be_late(const Options& options);

  // Whether this is a job of Slurm, wherever the hosts come from.
  bool in_slurm(const Options& options);

 private:
  struct BatchJob {
    std::string_view system;  // as --host-source names it
    plan::HostList list;
  };

  const hosts::FoundHosts& ask(const HostSource& source, const Options& options);
  std::optional<BatchJob> batch_job(const Options& options);
  // Returns an error if the batch system has started sml-run once for each of several tasks on a host.
  std::optional<Error> wrong_start(const Options& options);

  const ThisHost& here_;
  std::map<std::string, hosts::FoundHosts> answers_;  // by source, and the options that the source depends on
};

}  // namespace sml
