// Slurm: a step of one task on one host. Sources: srun(1) of 22.05 to 24.11; src/common/env.c for what a step sets;
// plm_slurm_module.c of PRRTE for what has to be taken away.
#include <array>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/starters/starters.h"

namespace sml::starters {

namespace {

constexpr std::array<std::string_view, 1> kSrunQuestion{"--version"};

// Input variables of srun that would change the step, and those of launchers inside of which sml-run runs. Variables
// that describe the allocation would be compared with the options.
constexpr std::array<std::string_view, 61> kSrunNotForTool{"SLURM_JOB_NUM_NODES",
                                                           "SLURM_NNODES",
                                                           "SLURM_JOB_NODELIST",
                                                           "SLURM_NODELIST",
                                                           "SLURM_TASKS_PER_NODE",
                                                           "SLURM_NTASKS*",
                                                           "SLURM_NPROCS",
                                                           "SLURM_CPUS_PER_*",
                                                           "SRUN_*",
                                                           "SLURM_CPU_BIND*",
                                                           "SLURM_CPU_FREQ_REQ",
                                                           "SLURM_MEM_BIND*",
                                                           "SLURM_MEM_PER_*",
                                                           "SLURM_DISTRIBUTION",
                                                           "SLURM_DIST_PLANESIZE",
                                                           "SLURM_EXCLUSIVE",
                                                           "SLURM_EXACT",
                                                           "SLURM_WHOLE",
                                                           "SLURM_OVERLAP",
                                                           "SLURM_OVERCOMMIT",
                                                           "SLURM_HINT",
                                                           "SLURM_CORE_SPEC",
                                                           "SLURM_THREAD_SPEC",
                                                           "SLURM_THREADS*",
                                                           "SLURM_THREADS_PER_CORE",
                                                           "SLURM_GRES*",
                                                           "SLURM_GPUS*",
                                                           "SLURM_GPU_*",
                                                           "SLURM_TRES_*",
                                                           "SLURM_MPI_TYPE",
                                                           "SLURM_KILL_BAD_EXIT",
                                                           "SLURM_NO_KILL",
                                                           "SLURM_WAIT",
                                                           "SLURM_LABELIO",
                                                           "SLURM_UNBUFFEREDIO",
                                                           "SLURM_STDINMODE",
                                                           "SLURM_STDOUTMODE",
                                                           "SLURM_STDERRMODE",
                                                           "SLURM_OPEN_MODE",
                                                           "SLURM_EXPORT_ENV",
                                                           "SLURM_PROLOG",
                                                           "SLURM_EPILOG",
                                                           "SLURM_TASK_PROLOG",
                                                           "SLURM_TASK_EPILOG",
                                                           "SLURM_WORKING_DIR",
                                                           "SLURM_MULTI_PROG",
                                                           "SLURM_RELATIVE",
                                                           "SLURM_IMMEDIATE",
                                                           "SLURM_DEBUG",
                                                           "SLURM_STEP_*",
                                                           "SLURM_STEPID",
                                                           "SLURM_PROCID",
                                                           "SLURM_LOCALID",
                                                           "SLURM_NODEID",
                                                           "SLURM_HET_*",
                                                           "SLURM_CONSTRAINT",
                                                           "SLURM_CLUSTER_CONSTRAINT",
                                                           "PMIX_*",
                                                           "PRTE_*",
                                                           "OMPI_*",
                                                           "PMI_*"};

// A step sets these for its task, and the batch script has none of them or others. Variables of the job stay.
constexpr std::array<std::string_view, 34> kSrunNotForWorkers{"SLURM_CPU_BIND*",
                                                              "SLURM_MEM_BIND*",
                                                              "SLURM_DISTRIBUTION",
                                                              "SLURM_GTIDS",
                                                              "SLURM_LAUNCH_NODE_IPADDR",
                                                              "SLURM_LOCALID",
                                                              "SLURM_NODEID",
                                                              "SLURM_PROCID",
                                                              "SLURM_NPROCS",
                                                              "SLURM_NTASKS",
                                                              "SLURM_NTASKS_PER_NODE",
                                                              "SLURM_TASKS_PER_NODE",
                                                              "SLURM_NNODES",
                                                              "SLURM_NODELIST",
                                                              "SLURM_SRUN_COMM_*",
                                                              "SLURM_STEP_*",
                                                              "SLURM_STEPID",
                                                              "SLURM_STEPMGR",
                                                              "SLURM_TASK_PID",
                                                              "SLURM_TOPOLOGY_*",
                                                              "SLURM_UMASK",
                                                              "SLURM_PRIO_PROCESS",
                                                              "SLURM_OOM_KILL_STEP",
                                                              "SLURM_CPUS_ON_NODE",
                                                              "SLURM_UNBUFFEREDIO",
                                                              "SLURM_RLIMIT_*",
                                                              "SLURM_TASK_PROLOG",
                                                              "SLURM_TASK_EPILOG",
                                                              "SLURMD_DEBUG",
                                                              "SLURM_WORKING_DIR",
                                                              "SRUN_*",
                                                              "SLURM_MPI_TYPE",
                                                              "SLURM_JOB_CPUS_PER_NODE_PACK_GROUP*",
                                                              "SLURM_JOB_CPUS_PER_NODE_HET_GROUP*"};

// Without it srun keeps bytes back until a line is complete.
constexpr std::array<std::string_view, 1> kSrunOptions{"--unbuffered"};

// "slurm 22.05.8", or Debian's "slurm-wlm 22.05.8" → 2205; 0 if it is something else.
int version_in(std::string_view answer) {
  const std::size_t blank = answer.find(' ');
  if (!answer.starts_with("slurm") || blank == std::string_view::npos) return 0;
  answer.remove_prefix(blank + 1);
  const auto number = [](std::string_view text) { return leading_number<int>(text).value_or(0); };
  const std::size_t dot = answer.find('.');
  return dot == std::string_view::npos ? 0 : number(answer.substr(0, dot)) * 100 + number(answer.substr(dot + 1));
}

std::string job_of(Environment environment) {
  const std::string_view id = plan::variable(environment, "SLURM_JOB_ID");
  return std::string(id.empty() ? plan::variable(environment, "SLURM_JOBID") : id);
}

// From 23.11 on a step for a launcher of another kind takes no processors, memory or devices, and has those of the job.
// Before that it shares with others what it takes.
std::vector<std::string> step_on(const std::vector<std::string>& hosts, Environment environment,
                                 std::string_view answer) {
  constexpr int kHasExternalLauncher = 2311;
  std::vector<std::string> words;
  if (version_in(answer) >= kHasExternalLauncher) {
    words = {"--external-launcher"};
  } else {
    words = {"--overlap", "--cpu-bind=none"};
  }
  const std::string count = std::to_string(hosts.size());
  words.insert(words.end(), {"--jobid=" + job_of(environment), "--nodes=" + count, "--ntasks=" + count,
                             fmt::format("--nodelist={}", fmt::join(hosts, ",")), "--mpi=none", "--export=ALL",
                             "--kill-on-bad-exit=0", "--no-kill", "--unbuffered", "--chdir=/"});
  return words;
}

Result<std::vector<std::string>> srun_arguments(const Target& target) {
  return without_shell(step_on({target.host}, target.environment, target.answer), target.script);
}

// Standard input would be copied to every task. A task that has ended is no reason to end the others.
Result<std::vector<std::string>> srun_step(const StepTarget& target) {
  std::vector<std::string> words =
      step_on({target.hosts.begin(), target.hosts.end()}, target.environment, target.answer);
  words.insert(words.end(), {"--ntasks-per-node=1", "--input=none", "--wait=0"});
  words.insert(words.end(), target.program.begin(), target.program.end());
  return words;
}

// The line of srun or slurmstepd that names the cause. How the task ended, and the id of the step, differ on each host.
std::string_view telling_line(std::string_view errors) {
  constexpr std::string_view kBegin = ": error: ";
  std::string_view found;
  for (const std::string_view line : split(errors, '\n')) {
    const std::size_t at = line.find(kBegin);
    if (at == std::string_view::npos || line.find(": task ") != std::string_view::npos) continue;
    if (found.empty()) found = trim(line.substr(at + kBegin.size()));
  }
  return found;
}

std::string srun_account(std::string_view errors) {
  static constexpr std::array kKnown{
      KnownWords{"DUE TO TIME LIMIT", "Slurm ended its step: the time limit of the job has passed"},
      KnownWords{"DUE TO PREEMPTION", "Slurm ended its step: the job was preempted"},
      KnownWords{"DUE TO NODE FAILURE", "Slurm ended its step: the node has failed"},
      KnownWords{"CANCELLED AT", "Slurm cancelled its step"},
      KnownWords{"Job step's node list is not part of the job", "the host is not in this job of Slurm"},
      KnownWords{"Requested node configuration is not available",
                 "the host is not in this job of Slurm, or has no room for a step"},
      KnownWords{"Unable to contact slurm controller", "Slurm's controller does not answer srun"},
      KnownWords{"step creation temporarily disabled", "Slurm has no room for a step there yet"},
      KnownWords{"Node failure on", "the node has failed, according to Slurm"},
      KnownWords{"Communication connection failure", "Slurm's daemon there does not answer srun"},
      KnownWords{"Invalid job id specified", "Slurm knows no such job (any more)"},
      KnownWords{"Expired or invalid job", "the job of Slurm is over"},
      KnownWords{"Job/step already completing or completed", "the job of Slurm is over, or ends"}};
  for (const KnownWords& words : kKnown) {
    if (errors.find(words.part) != std::string_view::npos) return std::string(words.clause);
  }
  const std::string_view line = telling_line(errors);
  return line.empty() ? std::string() : "srun printed: " + std::string(line);
}

}  // namespace

const Starter& srun() {
  static constexpr Starter starter{.name = "srun",
                                   .system = "Slurm",
                                   .tool = "srun",
                                   .host_source = "slurm",
                                   .job_variable = "SLURM_JOB_ID",
                                   .places = nullptr,
                                   .question = kSrunQuestion,
                                   .arguments = srun_arguments,
                                   .step = {.arguments = srun_step, .least_hosts = 16},
                                   .options_in_command = kSrunOptions,
                                   .not_for_tool = kSrunNotForTool,
                                   .not_for_workers = kSrunNotForWorkers,
                                   .end = EndOfTool::OfAgent,
                                   .pipe = EndOfPipe::OfTask,
                                   .account = srun_account};
  return starter;
}

}  // namespace sml::starters
