// A step: a start of a program on the hosts of a job, by a batch system or an MPI launcher. If the step has started
// sml-run once on each of several hosts, these are the hosts of one job, and they call the first. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "launcher/hosts/source_context.h"

namespace sml::hosts {

// sml-run as one task of a step that has one task on each host.
struct Step {
  std::string_view starter;  // the program that began the step, for messages: "srun"
  std::string_view
      count_variable;         // the variable with the number of tasks, or else one that shows that there is a step
  std::uint32_t rank = 0;     // index of this host in the step; 0 is the host that the others call
  std::uint32_t hosts = 0;    // their number; 0: the step does not give it
  std::string list_variable;  // the variable that names or counts the hosts, for messages
  std::vector<plan::Host> named{};  // by rank, `hosts` of them; empty: their names are not known
  std::string id;                   // the same on all hosts of the step; where known, it names job and step
};

// Reads the variables of srun, flux run, PALS, mpiexec of hydra, mpirun of Open MPI, and pbsdsh. nullopt: no step has
// started sml-run, or a step with a single task has, or sml-run runs as a worker of another sml-run. Error (Usage): the
// step has more than one task on a host, each of which would run the whole job. Error (Config): the variables
// contradict each other.
//
// If the step does not give the number of its hosts, as in PBS and with hydra's -pmi-port, `hosts` is 0.
//
// A task of hydra or Open MPI sees only how many tasks its own host has. If a step has one task on this host and
// several on others, only the tasks on those others get the error.
//
// Sources: srun(1), "OUTPUT ENVIRONMENT VARIABLES"; flux-environment(7); PALS mpiexec(1); MPICH, src/pm/hydra/proxy
// (MPI_LOCALNRANKS); Open MPI's FAQ, "What environment variables does Open MPI set"; OpenPBS, src/resmom/start_exec.c.
Result<std::optional<Step>> find_step(const SourceContext& s);

// The hosts of the step as the hosts of a job that call the first of them. nullopt: there is no step. Errors as those
// of find_step(), and Usage if the step does not give the number of its hosts.
FoundHosts hosts_of_step(const SourceContext& s);

}  // namespace sml::hosts
