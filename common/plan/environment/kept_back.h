// Decides which variables of the launcher's environment are withheld from all workers, and which only from the workers
// of other hosts. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/environment/worker_env.h"

namespace sml::plan {

// Names that have a meaning only on the host or in the login where they were set (HOME, PWD, SSH_*, XDG_*, DISPLAY,
// *_VISIBLE_DEVICES, BASH_FUNC_*, ...): they are not sent to other hosts. The manual lists them.
bool bound_to_host(std::string_view name);

// Names by which a launcher gives a worker its place (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_*, OMPI_COMM_WORLD_*, PMI_*,
// PMIX_*, HOROVOD_RANK, ..., TORCHELASTIC_*, SML_*, SLURM_PROCID, ...), except the user's settings among them, such as
// PMIX_MCA_*. If another launcher has started sml-run, they describe sml-run, not its workers: compose() never takes
// them from the launcher's or the login's environment. -x and --env-file may still set them, but sml-run's own values
// override these unless user_decides().
bool set_by_a_launcher(std::string_view name);

// Returns the launcher's environment for other hosts, without the names of bound_to_host() and set_by_a_launcher().
// Secrets are still in it; the caller removes them unless the user wants to send them (secrets.h). If it is the
// environment of a Slurm job, the variables that configure bash at its start (BASH_ENV, SHLVL, BASH_FUNC_*) stay in it,
// as with srun.
Environment for_other_hosts(std::span<const std::string> launcher_environment);

// True if this is the environment of a Slurm job, in which srun gives all hosts the variables of the batch script.
bool is_of_slurm_job(std::span<const std::string> environment);

// True for the name of an exported bash function: "BASH_FUNC_module%%", or "BASH_FUNC_module()" of old versions.
bool names_bash_function(std::string_view name);

// HOST, TMP and TEMP belong to a host, but users also configure programs by them. Returns the text of a warning that
// names those that `environment` sets and `user` (-x, --env-file) does not. It does not name a HOST that is this host's
// own name, nor a TMP or TEMP that equals TMPDIR. Empty if there are none.
std::string warning_of_kept_back(std::span<const std::string> environment, std::span<const std::string> user,
                                 std::string_view own_host_name);

}  // namespace sml::plan
