// Finds the place of this host in the job from variables that srun, mpirun and others set for each process. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/plan/environment/worker_env.h"

namespace sml::dialin {

struct PlaceHint {
  std::uint32_t place = 0;
  std::string_view variable;  // the name of the variable that has given it
};

// Reads the variables of srun, mpirun, hydra, Kubernetes' Indexed Jobs, AWS Batch, Flux, PBS, and launchers of torch's
// agents. Returns nullopt if none gives a place in a job of `hosts` hosts.
std::optional<PlaceHint> place_hint(const plan::Environment& environment, std::uint32_t hosts);

}  // namespace sml::dialin
