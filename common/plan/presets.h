// Variables for frameworks that want them under names or in forms of their own: given on request. Pure.
//
// Sources: TensorFlow's guide to distributed training (TF_CONFIG); JAX, jax/_src/clusters/ompi_cluster.py and
// distributed.py; DeepSpeed, launcher/launch.py; ps-lite, src/van.cc and postoffice.cc; srun(1), OUTPUT ENVIRONMENT
// VARIABLES; mpiexec.hydra of MPICH 4.0, as its processes see it.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/job_map.h"
#include "common/plan/program_map.h"
#include "common/plan/worker_env.h"

namespace sml::plan {

enum class Preset : std::uint8_t { Tf, Jax, Deepspeed, Dmlc, Accelerate, Slurm, Hydra };

// "tf,jax" → the presets. The message of an error goes on after "--preset: ".
Result<std::set<Preset>> parse_presets(std::string_view text);

// The names that they set, with their meaning: the man page's section PRESETS.
std::vector<VariableMeaning> preset_variables();

// What a preset makes of the programs: the parts that their roles play, and programs of its own beside the first, with
// the same command. Errors (Usage) name a role that the framework does not know, or that must be there once.
Result<void> arrange_programs(const std::set<Preset>& presets, std::vector<ProgramShare>& programs);

// A port that a rank listens on, and others are told.
struct PresetPort {
  Preset preset;
  Rank rank;
  HostIndex host;
  std::uint16_t port = 0;  // 0: not known yet
};
// Those that must be free, in the order of the ranks.
std::vector<PresetPort> preset_ports(const std::set<Preset>& presets, const JobMap& map);

// What is known when the hosts have met.
struct PresetFacts {
  std::span<const std::string> addresses;  // by host: at which the others reach it
  std::span<const PresetPort> ports;
  std::span<const std::string> inherited{};  // the launcher's own: a Slurm job that there is keeps its name
  std::span<const std::string> user{};       // of the rank's program: an interface of its own choice is kept
};

// What is set for one rank. Pure defaults, which the user's and inherited variables outrank, are not among them.
Environment preset_environment(const std::set<Preset>& presets, const JobMap& map, const RankAssignment& rank,
                               const JobIdentity& job, const PresetFacts& facts);
// Those defaults.
Environment preset_defaults(const std::set<Preset>& presets);

}  // namespace sml::plan
