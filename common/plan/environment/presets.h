// Variables for frameworks that expect them under names or in forms of their own; set on request. Pure.
//
// Sources: TensorFlow's guide to distributed training (TF_CONFIG); JAX, jax/_src/clusters/ompi_cluster.py and
// distributed.py; DeepSpeed, launcher/launch.py; srun(1), OUTPUT ENVIRONMENT VARIABLES; mpiexec.hydra of MPICH 4.0, as
// its processes see it.
#pragma once
#include <cstdint>
#include <functional>
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

enum class Preset : std::uint8_t { Tf, Jax, Deepspeed, Accelerate, Slurm, Hydra, OpenMpi, VirtualLocalRank };

// "tf,jax" → the presets. The message of an error is meant to follow "--preset: ".
Result<std::set<Preset>> parse_presets(std::string_view text);

// The names that the presets set, with their meaning, for the section PRESETS of the man page.
std::vector<VariableMeaning> preset_variables();

// Applies the presets to the programs; only Preset::Tf has an effect: a program without a role is a worker, and the
// role decides the program's part. Error (Usage) names a role that TensorFlow does not know.
Result<void> arrange_programs(const std::set<Preset>& presets, std::vector<ProgramShare>& programs);

// A port on which a rank listens, and which other ranks get to know.
struct PresetPort {
  Preset preset;
  Rank rank;
  HostIndex host;
  std::uint16_t port = 0;  // 0: not known yet
};
// The ports that must be free, in the order of the ranks.
std::vector<PresetPort> preset_ports(const std::set<Preset>& presets, const JobMap& map);

// Values that are known only after the rendezvous of the hosts.
struct PresetFacts {
  std::span<const std::string> addresses;    // by host: the address at which the others reach it
  std::span<const PresetPort> ports;         // all of preset_ports(), for the same presets and map
  std::span<const std::string> inherited{};  // the launcher's own: an existing Slurm job keeps its id and name
};

// The variables of one rank, without preset_defaults().
Environment preset_environment(const std::set<Preset>& presets, const JobMap& map, const RankAssignment& rank,
                               const JobIdentity& job, const PresetFacts& facts);
// Variables, equal for all ranks, that the user's and inherited variables override.
Environment preset_defaults(const std::set<Preset>& presets);

}  // namespace sml::plan
