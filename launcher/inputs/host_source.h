// Where the hosts come from: which of the sources that are there wins.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/hosts/batch_systems.h"
#include "common/plan/host.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

inline constexpr std::string_view kThisHost = "this machine";
inline constexpr std::string_view kSecretVariable = "SML_JOB_SECRET";

// Of a host that is known by its number only, among those of --nnodes.
std::string name_of_place(std::uint32_t place);

struct HostSource;

// Asks the sources of hosts, each at most once for the same options: files are read and programs run once in a run of
// ours. Outlived by the machine.
class HostFinder {
 public:
  explicit HostFinder(const ThisHost& here) : here_(here) {}

  // The first of --hosts, --hostfile, --resource-config, --nnodes, SageMaker's files (training, then processing, below
  // $SAGEMAKER_BASE_DIR), the batch systems (common/hosts/batch_systems.h) that is there, else this machine; or the one
  // that --host-source names, and no other. Where SageMaker's files and a batch system name different hosts, and this
  // machine is one of the latter's, that job is the one we run in: the file lies in the image. Where a batch system has
  // started us several times that is an error, before the file is looked at: each would run the whole job. A source
  // that is there but cannot be read is an error, not passed over.
  Result<plan::HostList> find(const Options& options);

  // A clause for the user where SageMaker's file and a batch system are both there and name different hosts, and one of
  // them is `chosen`; else empty. As find(), it takes the batch system's where this machine is one of them.
  std::string contradiction(const Options& options, const plan::HostList& chosen);

  // Whether a platform starts sml-run on every host of its job, so that they call the first.
  bool hosts_call(const Options& options);

  // Whether this is a job of Slurm, wherever the hosts come from.
  bool in_slurm(const Options& options);

 private:
  struct BatchJob {
    std::string_view system;  // as --host-source has it
    plan::HostList list;
  };

  const hosts::FoundHosts& ask(const HostSource& source, const Options& options);
  std::optional<BatchJob> batch_job(const Options& options);
  // Why the batch system in whose job we are will not have us started as we were: once for each of several tasks.
  std::optional<Error> wrong_start(const Options& options);

  const ThisHost& here_;
  std::map<std::string, hosts::FoundHosts> answers_;  // by the source, and what of the options it was asked with
};

}  // namespace sml
