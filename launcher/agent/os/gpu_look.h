// The question to nvidia-smi about NVIDIA's devices, its answer, and the interval between two questions. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/usage.h"

namespace sml::os {

inline constexpr std::size_t kLongestGpuListing = 16384;  // bytes; a device takes about 25

// The command line that prints the listing; `file`: nvidia-smi.
std::vector<std::string> gpu_question(const std::string& file);

// Parses a listing: a line for each device, such as "0, 87, 20480, 81559", with its index (as in CUDA with
// CUDA_DEVICE_ORDER=PCI_BUS_ID), utilization in per cent, and memory in use and in total in MiB. Device 0 is named
// "gpu0". Leaves out a device that does not report its utilization ("[N/A]", "[Not Supported]"), such as one that is
// partitioned into instances (MIG); memory that is not reported is 0 of 0. Skips all other lines, which report errors,
// and the rest of a listing that ends within a line. Returns at most kMostAccelerators devices.
std::vector<AcceleratorUse> parse_gpu_listing(std::string_view listing);

// The time from one question to the next, after one that took `took` until it was answered: a hundred times as long,
// but at least a second and at most half a minute, so that nvidia-smi runs for a small part of the time.
Duration gpu_interval(Duration took);

}  // namespace sml::os
