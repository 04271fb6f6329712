// What sml-run-nvml (launcher/nvml/helper.c) says of NVIDIA's devices in one line, and how often it may be asked. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/usage.h"

namespace sml::os {

inline constexpr std::size_t kLongestGpuLine = 4200;

struct GpuLook {
  std::uint64_t cost_us = 0;  // CPU time that it took
  std::vector<AcceleratorUse> devices;
  bool operator==(const GpuLook&) const = default;
};

// "312;0 87 1073741824 85899345920;1 0 0 0", without its end: the cost, and of each device its index, how busy it is in
// per cent, and bytes in use and in all. It is called "gpu0". Anything else, and more than kMostAccelerators: nullopt.
std::optional<GpuLook> parse_gpu_line(std::string_view line);

// From one question to the next: a second, or so long that the looks take less than a thousandth of a core; half a
// minute at most.
Duration gpu_interval(std::uint64_t cost_us);

}  // namespace sml::os
