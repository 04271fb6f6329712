#include "common/plan/environment/kept_back.h"

#include <array>

namespace sml::plan {

bool is_of_slurm_job(std::span<const std::string> environment) {
  return !variable(environment, "SLURM_JOB_ID").empty() && !variable(environment, "SLURM_JOB_NODELIST").empty();
}

bool names_bash_function(std::string_view name) {
  return name.starts_with("BASH_FUNC_") && (name.ends_with("%%") || name.ends_with("()"));
}

std::string kept_back(std::span<const std::string> environment, std::span<const std::string> user,
                      std::string_view own_host_name) {
  constexpr std::array<std::string_view, 3> kNames{"HOST", "TMP", "TEMP"};
  std::string names, words;
  for (const std::string_view name : kNames) {
    const std::string_view value = variable(environment, name);
    const bool is_its_own =
        name == "HOST" && value.substr(0, value.find('.')) == own_host_name.substr(0, own_host_name.find('.'));
    if (value.empty() || is_its_own || find_variable(user, name) != nullptr) continue;
    names += (names.empty() ? "" : ", ") + std::string(name);
    words += " -x " + std::string(name);
  }
  if (names.empty()) return {};
  return names +
         " of this host: workers of other hosts have what their login sets, as such variables mostly belong to "
         "one host;" +
         words + " passes it on";
}

}  // namespace sml::plan
