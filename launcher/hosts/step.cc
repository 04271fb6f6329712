#include "launcher/hosts/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/batch/slurm.h"
#include "launcher/hosts/fields.h"

namespace sml::hosts {

namespace {

using std::string_view;
using FoundStep = Result<std::optional<Step>>;

FoundStep no_step() { return std::optional<Step>(); }

std::optional<std::uint32_t> number_in(const SourceContext& s, string_view name) {
  const auto number = whole_number(s.variable(std::string(name)).value_or(""));
  if (!number || *number > plan::kMaxHosts * std::uint64_t{plan::kMaxSlotsPerHost}) return std::nullopt;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(*number, 0xffffffff));
}

Error too_many_tasks(string_view starter, std::uint32_t tasks, string_view how) {
  return Error(ErrorKind::Usage, fmt::format("{} has started sml-run {} times, more than once on a host; start it once "
                                             "on each host ({}), or once in all",
                                             starter, tasks, how))
      .with_hint("--host-source local runs a job of its own in each task");
}

FoundStep checked(Step step) {
  if (step.rank < step.hosts) return std::optional(std::move(step));
  return Error(ErrorKind::Config,
               fmt::format("{} counts {} tasks, and this is number {}", step.count_variable, step.hosts, step.rank))
      .with_hint("--host-source local runs a job of its own here");
}

// ---- Slurm

// The hosts of the step, with the slots that the job has on them.
Result<std::vector<plan::Host>> hosts_in_slurm(const SourceContext& s, string_view list) {
  const Result<std::vector<std::string>> names = expand_slurm_hostlist(list);
  if (!names) return Error(names.error()).in("SLURM_STEP_NODELIST");
  const FoundHosts job = slurm_job_hosts(s);
  if (!job) return job.error();
  std::vector<plan::Host> out;
  const std::vector<plan::Host> all = *job ? (*job)->hosts : std::vector<plan::Host>();
  for (const std::string& name : *names) {
    const auto own = std::find_if(all.begin(), all.end(), [&](const plan::Host& one) { return one.name == name; });
    out.push_back(own != all.end() ? *own : plan::Host{name, {}, std::nullopt});
  }
  return out;
}

FoundStep step_of_slurm(const SourceContext& s) {
  constexpr string_view kTasks = "SLURM_STEP_NUM_TASKS";
  const auto rank = number_in(s, "SLURM_PROCID");
  const auto tasks = number_in(s, kTasks);
  if (!rank || !tasks || *tasks <= 1) return no_step();
  if (number_in(s, "SLURM_STEP_NUM_NODES") != tasks) return too_many_tasks("srun", *tasks, "--ntasks-per-node=1");
  Step step{
      .starter = "srun",
      .count_variable = kTasks,
      .rank = *rank,
      .hosts = *tasks,
      .list_variable = "SLURM_STEP_NODELIST",
      .id = fmt::format("slurm {}.{}", s.variable("SLURM_JOB_ID").value_or(s.variable("SLURM_JOBID").value_or("")),
                        s.variable("SLURM_STEP_ID").value_or(s.variable("SLURM_STEPID").value_or("")))};
  const auto list = s.variable("SLURM_STEP_NODELIST");
  if (!list) return checked(std::move(step));
  Result<std::vector<plan::Host>> named = hosts_in_slurm(s, *list);
  if (!named) return named.error();
  if (named->size() == step.hosts) step.named = std::move(*named);
  return checked(std::move(step));
}

// ---- launchers that count tasks, and those of each host

struct Counting {
  string_view starter;
  string_view needed;  // set in each of its tasks
  string_view rank;
  string_view tasks;
  string_view tasks_here;  // or the hosts, of flux
  string_view id;
  string_view how;  // to have one task on each host
};
constexpr std::array kCountings{
    Counting{"mpiexec of PALS", "PALS_LOCAL_SIZE", "PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_SIZE", "PALS_APID",
             "--ppn 1"},
    Counting{"mpirun", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "--map-by ppr:1:node"},
    Counting{"mpiexec", "MPI_LOCALNRANKS", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "", "-ppn 1"},
};

// The hosts of the batch job, if there are as many as tasks, and this one has the place of its task: mpirun takes them
// in their order unless options change that.
std::vector<plan::Host> hosts_of_batch_job(const SourceContext& s, const Step& step) {
  for (const auto find : {slurm_job_hosts, pbs_hosts, lsf_hosts, sge_hosts, oar_hosts}) {
    const FoundHosts found = find(s);
    if (!found || !*found || (*found)->hosts.size() != step.hosts) continue;
    if (first_label((*found)->hosts[step.rank].name) == first_label(s.host_name)) return (*found)->hosts;
  }
  return {};
}

// mpiexec of hydra with -pmi-port: a task has its number from it, and the number of tasks from its server only.
FoundStep step_of_pmi_port(const SourceContext& s) {
  const auto rank = number_in(s, "PMI_ID");
  const auto here = number_in(s, "MPI_LOCALNRANKS");
  if (!s.variable("PMI_PORT") || !rank || !here || s.variable("PMI_SIZE")) return no_step();
  if (*here != 1) return too_many_tasks("mpiexec", *here, "-ppn 1");
  return std::optional(Step{
      .starter = "mpiexec", .count_variable = "PMI_ID", .rank = *rank, .list_variable = "PMI_PORT", .id = "mpiexec "});
}

FoundStep step_of_counts(const SourceContext& s) {
  for (const Counting& one : kCountings) {
    const auto rank = number_in(s, one.rank);
    const auto tasks = number_in(s, one.tasks);
    const auto here = number_in(s, one.tasks_here);
    if (!rank || !tasks || !here || *tasks <= 1) continue;
    if (*here != 1) return too_many_tasks(one.starter, *tasks, one.how);
    const std::string id = one.id.empty() ? "" : s.variable(std::string(one.id)).value_or("");
    FoundStep step = checked({.starter = one.starter,
                              .count_variable = one.tasks,
                              .rank = *rank,
                              .hosts = *tasks,
                              .list_variable = std::string(one.tasks),
                              .id = fmt::format("{} {}", one.starter, id)});
    if (step && *step) (*step)->named = hosts_of_batch_job(s, **step);
    return step;
  }
  return no_step();
}

// FLUX_JOB_ID is not set in the initial program of an instance, which runs once.
FoundStep step_of_flux(const SourceContext& s) {
  constexpr string_view kTasks = "FLUX_JOB_SIZE";
  const auto id = s.variable("FLUX_JOB_ID");
  const auto rank = number_in(s, "FLUX_TASK_RANK");
  const auto tasks = number_in(s, kTasks);
  if (!id || !rank || !tasks || *tasks <= 1) return no_step();
  if (number_in(s, "FLUX_JOB_NNODES") != tasks) return too_many_tasks("flux run", *tasks, "--tasks-per-node=1");
  return checked({.starter = "flux run",
                  .count_variable = kTasks,
                  .rank = *rank,
                  .hosts = *tasks,
                  .list_variable = std::string(kTasks),
                  .id = "flux " + *id});
}

// ---- PBS

// The first task of a job is its script, on the first host; the others are started by pbsdsh, pbs_tmrsh or an MPI
// launcher. The node file is on the first host only, unless the sites' servers share their folders.
FoundStep step_of_pbs(const SourceContext& s) {
  const auto id = s.variable("PBS_JOBID");
  const auto task = number_in(s, "PBS_TASKNUM");
  const auto rank = number_in(s, "PBS_NODENUM");
  if (!id || !task || *task <= 1 || !rank) return no_step();
  Step step{.starter = "pbsdsh",
            .count_variable = "PBS_TASKNUM",
            .rank = *rank,
            .list_variable = "PBS_NODEFILE",
            .id = "pbs " + *id};
  const FoundHosts found = pbs_hosts(s);
  if (!found || !*found) return std::optional(std::move(step));  // it is reported when the hosts are needed
  step.named = (*found)->hosts;
  step.hosts = static_cast<std::uint32_t>(step.named.size());
  return step.hosts <= 1 ? no_step() : checked(std::move(step));
}

}  // namespace

FoundStep find_step(const SourceContext& s) {
  if (s.variable("SML_RANK") && s.variable("SML_JOB_ID")) return no_step();
  // mpirun and mpiexec start their helpers by a step of the batch system, and sml-run has the variables of both.
  for (const auto find : {step_of_counts, step_of_pmi_port, step_of_flux, step_of_slurm, step_of_pbs}) {
    FoundStep found = find(s);
    if (!found || *found) return found;
  }
  return no_step();
}

FoundHosts hosts_of_step(const SourceContext& s) {
  const FoundStep found = find_step(s);
  if (!found) return found.error();
  if (!*found) return std::optional<plan::HostList>();
  const Step& step = **found;
  if (step.hosts == 0) {
    return Error(ErrorKind::Usage,
                 fmt::format("{} has started sml-run on several hosts, and does not give their number: set it with "
                             "--nnodes N and --head ADDR, the address of the first",
                             step.starter));
  }
  using Names = plan::CallingHosts::Names;
  plan::HostList list{step.named, step.list_variable, plan::SlotsAre::Capacity};
  for (std::uint32_t i = 0; list.hosts.size() < step.hosts; ++i) {
    list.hosts.push_back({fmt::format("host-{}", i), {}, std::nullopt});
  }
  list.calls = {list.hosts[step.rank].name, "", step.named.empty() ? Names::MadeUp : Names::Real};
  return std::optional(std::move(list));
}

}  // namespace sml::hosts
