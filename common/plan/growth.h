// Hosts that wait, and the ranks that they get when a job may grow. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/core/strong.h"
#include "common/plan/job_map.h"

namespace sml::plan {

// How large a job may become.
struct MostSize {
  std::optional<std::uint32_t> hosts{};  // with ranks
  std::optional<std::uint32_t> ranks{};
  std::optional<std::uint32_t> per_host{};  // ranks, of those that get some; nothing: as many as slots
  std::uint32_t spares = 0;                 // that are to be left waiting
};

// Spares of `ready` get as many ranks as they have slots, or as may be added, as long as there is room; all others keep
// theirs. Of jobs of one program that no rankfile has placed; any other stays as it is.
JobMap grow(JobMap map, const MostSize& most, std::span<const HostId> ready);

}  // namespace sml::plan
