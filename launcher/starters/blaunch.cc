// LSF: a task of a parallel job. Source: blaunch(1) of IBM Spectrum LSF 10.1; never run with the real one. The user's
// login shell reads the words. With -n its standard input would be empty.
#include <array>

#include "launcher/starters/starters.h"

namespace sml::starters {

namespace {

constexpr std::array<std::string_view, 3> kBlaunchNotForWorkers{"LS_EXEC_T", "LSF_PM_*", "LS_JOBPID"};

Result<std::vector<std::string>> blaunch_arguments(const Target& target) {
  return std::vector<std::string>{target.host, target.script};
}

std::string blaunch_account(std::string_view errors) {
  static constexpr std::array kKnown{
      KnownWords{"not in the execution host list", "the host is not in this job of LSF"},
      KnownWords{"not part of the allocation", "the host is not in this job of LSF"},
      KnownWords{"Failed in an LSF library call", "LSF's daemon there does not answer blaunch"}};
  return clause_for(kKnown, errors);
}

}  // namespace

const Starter& blaunch() {
  static constexpr Starter starter{.name = "lsf",
                                   .system = "LSF",
                                   .tool = "blaunch",
                                   .host_source = "lsf",
                                   .job_variable = "LSB_JOBID",
                                   .arguments = blaunch_arguments,
                                   .not_for_workers = kBlaunchNotForWorkers,
                                   .account = blaunch_account};
  return starter;
}

}  // namespace sml::starters
