// Flux: a program of a broker, of which each host of an instance has one. Sources: flux-exec(1), flux-getattr(1); never
// run with the real one. Brokers are named by rank; the attribute hostlist has their hosts in that order. The program
// has the broker's environment, and no shell is in between.
#include <algorithm>
#include <array>

#include "common/core/text.h"
#include "launcher/hosts/batch/slurm.h"
#include "launcher/starters/starters.h"

namespace sml::starters {

namespace {

constexpr std::array<std::string_view, 2> kFluxQuestion{"getattr", "hostlist"};
constexpr std::array<std::string_view, 3> kFluxNotForWorkers{"FLUX_EXEC_*", "FLUX_TASK_*", "PMI_*"};

Result<std::vector<std::string>> flux_arguments(const Target& target) {
  const Result<std::vector<std::string>> hosts = hosts::expand_slurm_hostlist(trim(target.answer));
  if (!hosts || hosts->empty()) {
    return Error(ErrorKind::Deploy, "flux getattr hostlist does not name the hosts of the brokers")
        .with_hint("flux exec starts by the rank of a broker; --start-by ssh needs none");
  }
  const auto found = std::find(hosts->begin(), hosts->end(), target.host);
  if (found == hosts->end()) return Error(ErrorKind::Deploy, "the host has no broker of this instance of Flux");
  return without_shell({"exec", "-r", std::to_string(found - hosts->begin()), "-d", "/"}, target.script);
}

std::string flux_account(std::string_view errors) {
  static constexpr std::array kKnown{KnownWords{"No route to host", "its broker of Flux is down"},
                                     KnownWords{"Host is unreachable", "its broker of Flux is down"},
                                     KnownWords{"Connection refused", "this instance of Flux does not answer"}};
  return clause_for(kKnown, errors);
}

}  // namespace

const Starter& flux() {
  static constexpr Starter starter{.name = "flux",
                                   .system = "Flux",
                                   .tool = "flux",
                                   .host_source = "flux",
                                   .job_variable = "FLUX_URI",
                                   .question = kFluxQuestion,
                                   .arguments = flux_arguments,
                                   .not_for_workers = kFluxNotForWorkers,
                                   .account = flux_account};
  return starter;
}

}  // namespace sml::starters
