// Systems whose starters give the program that they start no pipe to their caller: PBS and PALS. Sources: pbs_tmrsh(8),
// pbsdsh(1B) of OpenPBS and Torque; mpiexec(1) of PALS, aprun(1) of ALPS. Never run with the real ones.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/starters/starters.h"

namespace sml::starters {

namespace {

constexpr std::array<std::string_view, 3> kPbsNotForWorkers{"PBS_TASKNUM", "PBS_NODENUM", "PBS_VNODENUM"};
constexpr std::array<std::string_view, 4> kPalsNotForTool{"PMIX_*", "PRTE_*", "OMPI_*", "PMI_*"};
constexpr std::array<std::string_view, 4> kPalsNotForWorkers{"PALS_*", "ALPS_*", "PMI_*", "PMIX_*"};

bool is_named(std::string_view file, std::string_view name) { return file.substr(file.rfind('/') + 1) == name; }

// No shell reads the words. A host may have several lines in the node file; the first one is meant.
Result<std::vector<std::string>> pbs_step(const StepTarget& target) {
  std::vector<std::string> words;
  if (is_named(target.tool, "pbsdsh")) {
    words = {"-h", target.hosts.front(), "--"};
  } else {
    words = {target.hosts.front()};
  }
  words.insert(words.end(), target.program.begin(), target.program.end());
  return words;
}

std::string pbs_account(std::string_view errors) {
  static constexpr std::array kKnown{KnownWords{"not found in", "the host is not in this job of PBS"},
                                     KnownWords{"host not found", "the host is not in this job of PBS"},
                                     KnownWords{"tm_init", "PBS's daemon does not answer here"},
                                     KnownWords{"tm_spawn", "PBS could not start a task there"}};
  return clause_for(kKnown, errors);
}

Result<std::vector<std::string>> pals_step(const StepTarget& target) {
  const std::string hosts = fmt::format("{}", fmt::join(target.hosts, ","));
  const std::string count = std::to_string(target.hosts.size());
  std::vector<std::string> words;
  if (is_named(target.tool, "aprun")) {
    words = {"-n", count, "-N", "1", "-L", hosts, "--cc", "none"};
  } else {
    words = {"-n", count, "--ppn", "1", "--hosts", hosts, "--cpu-bind", "none"};
  }
  words.insert(words.end(), target.program.begin(), target.program.end());
  return words;
}

}  // namespace

const Starter& pbs() {
  static constexpr Starter starter{.name = "pbs",
                                   .system = "PBS",
                                   .tool = "pbs_tmrsh",
                                   .other_tool = "pbsdsh",
                                   .host_source = "pbs",
                                   .job_variable = "PBS_JOBCOOKIE",
                                   .step = {.arguments = pbs_step, .most_hosts = 1, .secret = "PBS_JOBCOOKIE"},
                                   .not_for_workers = kPbsNotForWorkers,
                                   .account = pbs_account};
  return starter;
}

const Starter& pals() {
  static constexpr Starter starter{.name = "pals",
                                   .system = "PALS",
                                   .tool = "mpiexec",
                                   .other_tool = "aprun",
                                   .step = {.arguments = pals_step},
                                   .not_for_tool = kPalsNotForTool,
                                   .not_for_workers = kPalsNotForWorkers};
  return starter;
}

}  // namespace sml::starters
