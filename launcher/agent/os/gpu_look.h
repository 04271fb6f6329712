// Parses the line in which sml-run-nvml (launcher/agent/nvml/helper.c) reports the use of NVIDIA's devices, and
// computes the interval between two queries. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/usage.h"

namespace sml::os {

inline constexpr std::size_t kLongestGpuLine = 4200;  // bytes

// The reply to one query.
struct GpuLook {
  std::uint64_t cost_us = 0;  // CPU time that the query took
  std::vector<AcceleratorUse> devices;
  bool operator==(const GpuLook&) const = default;
};

// Parses "312;0 87 1073741824 85899345920;1 0 0 0", without the line end: the cost, and for each device its index,
// utilization in per cent, and bytes in use and in total. Device 0 is named "gpu0". Returns nullopt for anything else,
// and for more than kMostAccelerators devices.
std::optional<GpuLook> parse_gpu_line(std::string_view line);

// The time between two queries: a second, or longer so that queries take less than a thousandth of a core; half a
// minute at most.
Duration gpu_interval(std::uint64_t cost_us);

}  // namespace sml::os
