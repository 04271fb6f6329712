// Finds variables of the launcher's environment that workers on other hosts do not get. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/environment/worker_env.h"

namespace sml::plan {

// True if this is the environment of a Slurm job, in which srun gives all hosts the variables of the batch script.
bool is_of_slurm_job(std::span<const std::string> environment);

// True for the name of an exported bash function: "BASH_FUNC_module%%".
bool names_bash_function(std::string_view name);

// HOST, TMP and TEMP belong to a host, but programs are configured by them, too. Returns a clause that names those
// which are set here and are not in `user` (the user's variables for all hosts); a HOST that is this host's own name is
// not reported. Empty if there are none.
std::string kept_back(std::span<const std::string> environment, std::span<const std::string> user,
                      std::string_view own_host_name);

}  // namespace sml::plan
