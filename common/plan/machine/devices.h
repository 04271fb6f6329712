// Finds the accelerators of a host, and determines which of them each worker sees, by the variable of their kind
// (CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, ZE_AFFINITY_MASK, HABANA_VISIBLE_MODULES, ...). Pure, but find_devices()
// calls the functions that its caller passes, which read files and folders.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/cpu_topology.h"
#include "common/plan/variables.h"

namespace sml::plan {

// All: sets no variable, so that the worker's own environment decides. PerRank: each worker has some to itself.
// PerRankIfAny: as PerRank on hosts that have any, as All on others. None: GPUs of NVIDIA and AMD are hidden; other
// kinds are not.
enum class VisibleDevices : std::uint8_t { All, PerRank, PerRankIfAny, None };

struct DeviceRequest {
  VisibleDevices visible = VisibleDevices::All;
  std::uint32_t per_rank = 1;  // with PerRank and PerRankIfAny: the number of devices that each worker has to itself
  void fields(auto& a) { a(visible, per_rank); }
  static constexpr std::string_view kNames[] = {"--visible-devices", "--gpus-per-rank"};  // see wire::Prepare::kNames
  bool operator==(const DeviceRequest&) const = default;
};

// A kind of accelerator, and the variable that limits a program to some of them.
struct DeviceKind {
  std::string_view name;      // "NVIDIA GPU"
  std::string_view variable;  // "CUDA_VISIBLE_DEVICES"
};

struct Devices {
  DeviceKind kind;
  std::vector<std::string> names;  // as the variable takes them: numbers, or the items of an inherited list
};

// Returns the names in a folder, in any order, perhaps with "." and ".."; empty if the folder cannot be read.
using ListFolder = std::function<std::vector<std::string>(const std::string& path)>;

// Returns the accelerators that a variable of `environment` lists (as CUDA_VISIBLE_DEVICES does). If none does, counts
// the devices in /dev and /sys and names them from 0 on. Devices are of one kind: the first that is found.
// Devices::names is empty if there are none.
Devices find_devices(const ReadText& read, const ListFolder& list, std::span<const std::string> environment);

// The variables of the worker with this local rank; empty if it sees all devices. An error (kind Spawn) if the host has
// too few devices.
Result<Environment> device_variables(const DeviceRequest& request, const Devices& devices, std::uint32_t local_rank);

}  // namespace sml::plan
