// OAR: an ssh that enters the job on the host. Source: oarsh(1); never run with the real one.
#include "launcher/starters/starters.h"

namespace sml::starters {

namespace {

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
                                   .end = EndOfTool::AsSsh};
  return starter;
}

}  // namespace sml::starters
