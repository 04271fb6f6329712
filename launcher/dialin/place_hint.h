// Which host of a job this one is, as whoever has started sml-run on each of them says it by variables. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/plan/worker_env.h"

namespace sml::dialin {

struct PlaceHint {
  std::uint32_t place = 0;
  std::string_view variable;
};

// Of srun, mpirun, hydra, Kubernetes' Indexed Jobs, AWS Batch, Flux, and of a launcher of torch's agents. Nothing: no
// variable says it of a job of so many hosts.
std::optional<PlaceHint> place_hint(const plan::Environment& environment, std::uint32_t hosts);

}  // namespace sml::dialin
