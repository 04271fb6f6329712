// Computes the variables of --preset: those that a framework, or a program made for another launcher, expects under
// names or in forms of its own. In a Slurm job make_plan() adds Preset::OpenMpi even if the user gives no --preset: JAX
// would otherwise look for variables of srun that workers do not have. Pure.
//
// Sources: TensorFlow's guide to distributed training (TF_CONFIG); JAX, jax/_src/clusters/ompi_cluster.py and
// distributed.py; DeepSpeed, launcher/launch.py; srun(1), OUTPUT ENVIRONMENT VARIABLES; mpiexec.hydra of MPICH 4.0, as
// its processes see it.
#pragma once
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"
#include "common/plan/ranks/job_map.h"
#include "common/plan/ranks/program_map.h"

namespace sml::plan {

// VirtualLocalRank: LOCAL_RANK is 0, for programs that see only one accelerator.
enum class Preset : std::uint8_t { Tf, Jax, Deepspeed, Accelerate, Slurm, Hydra, OpenMpi, VirtualLocalRank };

// "tf,jax" → the presets. The message of an error is meant to follow "--preset: ".
Result<std::set<Preset>> parse_presets(std::string_view text);

// Returns the names that the presets set, each once, with their meaning. Only tests call this; tests/check_docs.py
// reads the tables in presets.cc to check the section PRESETS of the man page.
std::vector<VariableMeaning> preset_variables();

// Gives the programs the roles and the Part that the presets need. Only Preset::Tf does so: a program without a role
// becomes a "worker", a "ps" becomes a helper (Part::Helper), and if there are a "chief" and a "ps", each "worker"
// becomes a Part::Server. Error (Usage) names a role that TensorFlow does not know.
Result<void> arrange_programs(const std::set<Preset>& presets, std::vector<ProgramShare>& programs);

// A port on which a rank listens, and which other ranks get to know.
struct PresetPort {
  Preset preset;
  Rank rank;
  HostIndex host;
  std::uint16_t port = 0;  // 0: not known yet
};
// Returns the ports that the agents must reserve, in the order of the ranks; each number is still 0.
std::vector<PresetPort> preset_ports(const std::set<Preset>& presets, const JobMap& map);

// Values that are known only after the rendezvous of the hosts.
struct PresetFacts {
  std::span<const std::string> addresses;    // by host: the address at which the others reach it
  std::span<const PresetPort> ports;         // all of preset_ports(), for the same presets and map
  std::span<const std::string> inherited{};  // the launcher's environment: the id and name of its Slurm job are kept
};

// Returns the variables of one rank, without those of preset_defaults(). The returned variables override all others,
// those of -x too. A rank of a helper (Part::Helper) gets TF_CONFIG only.
Environment preset_environment(const std::set<Preset>& presets, const JobMap& map, const RankAssignment& rank,
                               const JobIdentity& job, const PresetFacts& facts);
// Returns variables that are equal for all ranks; the user's and inherited variables override them.
Environment preset_defaults(const std::set<Preset>& presets);

}  // namespace sml::plan
