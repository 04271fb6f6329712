// Which accelerators each worker of a host sees. Pure: what the host has and what its environment says in, variables
// out.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/cpu_topology.h"
#include "common/plan/worker_env.h"

namespace sml::plan {

// All: what the host's environment says, or everything; None: no GPU of NVIDIA or AMD.
enum class VisibleDevices : std::uint8_t { All, PerRank, None };

struct DeviceWish {
  VisibleDevices visible = VisibleDevices::All;
  std::uint32_t per_rank = 1;
  void fields(auto& a) { a(visible, per_rank); }
  bool operator==(const DeviceWish&) const = default;
};

// A maker of accelerators: what tells how many there are, and the variable that limits a program to some.
struct DeviceKind {
  std::string_view name;      // "NVIDIA GPU"
  std::string_view variable;  // "CUDA_VISIBLE_DEVICES"
};

struct Devices {
  DeviceKind kind;
  std::vector<std::string> names;  // as the variable takes them: numbers, or what an inherited list says
};

// The names in a folder, in any order; empty when it is not there.
using ListFolder = std::function<std::vector<std::string>(const std::string& path)>;

// The accelerators of a host: those that an inherited variable lists, else those that the kernel shows. Of several
// makers the first that has any. Empty names: there are none.
Devices find_devices(const ReadText& read, const ListFolder& list, std::span<const std::string> environment);

// The variables of a worker by its local rank. An error (kind Spawn) when the host has too few.
Result<Environment> device_variables(const DeviceWish& wish, const Devices& devices, std::uint32_t local_rank);

}  // namespace sml::plan
