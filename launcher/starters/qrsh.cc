// Grid Engine and its successors: a task of a parallel job. Sources: qrsh(1), sge_pe(5); run with 8.1.9. The words are
// joined by blanks, and the user's shell reads them with -c.
#include <array>

#include "common/plan/environment/worker_env.h"
#include "launcher/starters/starters.h"

namespace sml::starters {

namespace {

constexpr std::array<std::string_view, 1> kQrshNotForWorkers{"QRSH_*"};

// The folder of the architecture, as the installation script names it.
std::vector<std::string> qrsh_places(Environment environment) {
  const std::string root(plan::variable(environment, "SGE_ROOT"));
  const std::string architecture(plan::variable(environment, "ARC"));
  if (!root.starts_with('/') || architecture.empty()) return {};
  return {root + "/bin/" + architecture + "/qrsh"};
}

Result<std::vector<std::string>> qrsh_arguments(const Target& target) {
  return std::vector<std::string>{"-inherit", target.host, target.script};
}

std::string qrsh_account(std::string_view errors) {
  static constexpr std::array kKnown{
      KnownWords{"control_slaves",
                 "Grid Engine starts no tasks for this parallel environment: its control_slaves must be TRUE"},
      KnownWords{"no free slot", "Grid Engine has no free slot for a task there"},
      KnownWords{"task start failed", "Grid Engine could not start a task there"},
      KnownWords{"commlib error", "Grid Engine's daemon there does not answer qrsh"},
      KnownWords{"executing task of job", "Grid Engine refused a task there"}};
  return clause_for(kKnown, errors);
}

}  // namespace

const Starter& qrsh() {
  static constexpr Starter starter{.name = "qrsh",
                                   .system = "Grid Engine",
                                   .tool = "qrsh",
                                   .host_source = "sge",
                                   .job_variable = "PE_HOSTFILE",
                                   .places = qrsh_places,
                                   .arguments = qrsh_arguments,
                                   .not_for_workers = kQrshNotForWorkers,
                                   .account = qrsh_account};
  return starter;
}

}  // namespace sml::starters
