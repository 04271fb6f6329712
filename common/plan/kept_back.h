// Variables of the launcher's environment that workers of other hosts do not get. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/worker_env.h"

namespace sml::plan {

// Whether it is that of a job of Slurm, all hosts of which srun gives what the batch script has.
bool is_of_slurm_job(std::span<const std::string> environment);

// "BASH_FUNC_module%%": a function that bash has exported.
bool names_bash_function(std::string_view name);

// HOST, TMP and TEMP belong to a host, and programs are configured by them, too. Returns a clause that names those
// which are set here and have other values elsewhere; empty: none. `user`: given by the user, for all hosts.
std::string kept_back(std::span<const std::string> environment, std::span<const std::string> user,
                      std::string_view own_host_name);

}  // namespace sml::plan
