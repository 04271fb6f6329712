// A step: a program that a batch system or an MPI launcher starts on the hosts of a job. If it has started sml-run once
// on each of several hosts, these are the hosts of one job, and call each other. Pure.
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
  std::string_view starter;         // for people: "srun"
  std::string_view counted;         // the variable that counts the tasks, or else shows that there is a step
  std::uint32_t rank = 0;           // of this host among those of the step; 0 is the head
  std::uint32_t hosts = 0;          // 0: the step does not say
  std::string list;                 // for people: where the hosts are named
  std::vector<plan::Host> named{};  // by rank, `hosts` of them; empty: neither the step nor its batch job name them
  std::string id;                   // of job and step, equal on all its hosts and different for others at the same time
};

// Reads the variables of srun, flux run, PALS, mpiexec of hydra, mpirun of Open MPI, and pbsdsh. nullopt: no step has
// started sml-run, or one with a single task, or sml-run runs as a worker of another sml-run. Errors: Usage, if the
// step has more tasks than hosts, each of which would run the whole job; Config, if the variables contradict each
// other.
//
// If the step does not say how many hosts it has, as in PBS and with hydra's -pmi-port, `hosts` is 0.
//
// A task of hydra or Open MPI sees only how many tasks its own host has: of a step with one task here and several
// elsewhere, only those others return the error.
//
// Sources: srun(1), "OUTPUT ENVIRONMENT VARIABLES"; flux-environment(7); PALS mpiexec(1); MPICH, src/pm/hydra/proxy
// (MPI_LOCALNRANKS); Open MPI's FAQ, "What environment variables does Open MPI set"; OpenPBS, src/resmom/start_exec.c.
Result<std::optional<Step>> find_step(const SourceContext& s);

// The hosts of the step as a list whose hosts call the first. nullopt: there is no step. Errors as above, and Usage if
// the step does not say how many hosts it has.
FoundHosts hosts_of_step(const SourceContext& s);

}  // namespace sml::hosts
