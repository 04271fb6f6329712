// Gives ranks to spare hosts when a job may grow. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"

namespace sml::plan {

// The largest size that a job may reach.
struct MostSize {
  std::optional<std::uint32_t> hosts{};  // that have ranks
  std::optional<std::uint32_t> ranks{};
  std::optional<std::uint32_t> per_host{};  // ranks of each host that joins; nullopt: as many as its slots
  std::uint32_t spares = 0;                 // hosts to keep as spares, counted over all spare hosts
};

// Gives each spare host in `ready` as many ranks as it has slots, or as `most` permits, as long as there is room; all
// other hosts keep their ranks, but hosts with ranks move before the spare ones, so that a HostIndex changes. Returns
// the map unchanged if the job has several programs, a rankfile or helpers.
JobMap grow(JobMap map, const MostSize& most, std::span<const HostId> ready);

}  // namespace sml::plan
