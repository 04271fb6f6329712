// Decides which variables of the launcher's environment are kept from all workers, or from those of other hosts. Pure.
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
// PMIX_*, HOROVOD_RANK, ..., TORCHELASTIC_*, SML_*, SLURM_PROCID, ...). If sml-run itself is started by another
// launcher they describe sml-run, not its workers, so they are always removed from the base. (-x and --env-file may
// still set them, except those that sml-run sets itself.)
bool set_by_a_launcher(std::string_view name);

// The launcher's environment as sent to other hosts: without bound_to_host() and set_by_a_launcher(). In a Slurm job it
// keeps the variables that configure bash at its start (BASH_ENV, SHLVL, BASH_FUNC_*), as srun does.
Environment for_other_hosts(std::span<const std::string> launcher_environment);

// True if this is the environment of a Slurm job, in which srun gives all hosts the variables of the batch script.
bool is_of_slurm_job(std::span<const std::string> environment);

// True for the name of an exported bash function: "BASH_FUNC_module%%", or "BASH_FUNC_module()" of old versions.
bool names_bash_function(std::string_view name);

// HOST, TMP and TEMP belong to a host, but users also configure programs by them. Returns a warning, as a part of a
// sentence, that names those which are set here and are not in `user` (the user's variables for all hosts). It does not
// name a HOST that is this host's own name, nor a TMP or TEMP that equals TMPDIR. Empty if there are none.
std::string warning_of_kept_back(std::span<const std::string> environment, std::span<const std::string> user,
                                 std::string_view own_host_name);

}  // namespace sml::plan
