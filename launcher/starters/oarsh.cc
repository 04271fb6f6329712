// OAR: an ssh that enters the job on the host. Source: oarsh(1); run with 2.5.9.
#include <array>

#include "launcher/starters/starters.h"

namespace sml::starters {

namespace {

constexpr std::array<std::string_view, 4> kOarshNotForWorkers{"OAR_CPUSET", "OAR_JOB_USER", "OAR_USER_CPUSET",
                                                              "OAR_USER_GPUDEVICE"};

Result<std::vector<std::string>> oarsh_arguments(const Target& target) {
  return std::vector<std::string>{target.host, target.script};
}

}  // namespace

const Starter& oarsh() {
  static constexpr Starter starter{.name = "oar",
                                   .system = "OAR",
                                   .tool = "oarsh",
                                   .host_source = "oar",
                                   .job_variable = "OAR_JOB_ID",
                                   .arguments = oarsh_arguments,
                                   .not_for_workers = kOarshNotForWorkers,
                                   .end = EndOfTool::AsSsh};
  return starter;
}

}  // namespace sml::starters
