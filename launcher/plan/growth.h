// Gives ranks to spare hosts when a job may grow. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"

namespace sml::plan {

// The largest size that a job may reach; nullopt: no limit.
struct MostSize {
  std::optional<std::uint32_t> hosts{};  // counts hosts with ranks
  std::optional<std::uint32_t> ranks{};
  std::optional<std::uint32_t> per_host{};  // ranks of each host that joins; nullopt: as many as its slots
  std::uint32_t spares = 0;                 // hosts to keep as spares; those that are not ready count, too
};

// Gives each spare host in `ready` as many ranks as it has slots, or fewer if `most` permits no more. All other hosts
// keep their ranks. If any host gets ranks, hosts with ranks move before the others, so that the HostIndex of a host
// may change. Returns the map unchanged if the job has several programs, a rankfile or helpers.
JobMap grow(JobMap map, const MostSize& most, std::span<const HostId> ready);

}  // namespace sml::plan
