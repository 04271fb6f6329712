#include "common/plan/machine/devices.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "common/core/text.h"
#include "common/plan/machine/core_groups.h"

namespace sml::plan {

namespace {

constexpr std::uint32_t kMostDevices = 4096;

std::optional<std::uint32_t> device_number(std::string_view text) {
  return parse_index(text, std::numeric_limits<std::uint32_t>::max());
}

struct DeviceFiles {
  const ReadText& read;
  const ListFolder& list;
};

// The numbers of the files in a folder that are named `prefix` and a number.
std::vector<std::uint32_t> numbered(const DeviceFiles& host, const std::string& folder, std::string_view prefix) {
  std::vector<std::uint32_t> out;
  for (const std::string& name : host.list(folder)) {
    if (!name.starts_with(prefix)) continue;
    if (const auto n = device_number(std::string_view(name).substr(prefix.size()))) out.push_back(*n);
  }
  return out;
}

// ---- counts of devices

std::size_t nvidia_gpus(const DeviceFiles& host) { return numbered(host, "/dev", "nvidia").size(); }

std::size_t amd_gpus(const DeviceFiles& host) {
  const std::string root = "/sys/class/kfd/kfd/topology/nodes";
  std::size_t gpus = 0;
  for (const std::string& node : host.list(root)) {
    const std::string id = host.read(root + "/" + node + "/gpu_id");
    if (!id.empty() && id != "0\n" && id != "0") ++gpus;  // 0: the node is a CPU
  }
  return gpus;
}

std::size_t habana_cards(const DeviceFiles& host) {
  std::size_t cards = numbered(host, "/dev", "hl").size();
  for (const std::uint32_t accelerator : numbered(host, "/dev/accel", "accel")) {
    const std::string vendor = "/sys/class/accel/accel" + std::to_string(accelerator) + "/device/vendor";
    if (host.read(vendor).starts_with("0x1da3")) ++cards;
  }
  return cards;
}

std::size_t ascend_cards(const DeviceFiles& host) { return numbered(host, "/dev", "davinci").size(); }

std::size_t neuron_cores(const DeviceFiles& host) {
  constexpr std::uint32_t kCoresOfOne = 2;
  std::size_t cores = 0;
  for (const std::uint32_t device : numbered(host, "/dev", "neuron")) {
    std::string text = host.read("/sys/devices/virtual/neuron_device/neuron" + std::to_string(device) + "/core_count");
    if (!text.empty() && text.back() == '\n') text.pop_back();
    cores += device_number(text).value_or(kCoresOfOne);
  }
  return cores;
}

std::size_t intel_gpus(const DeviceFiles& host) {
  std::size_t gpus = 0;
  for (const std::uint32_t card : numbered(host, "/sys/class/drm", "card")) {
    if (host.read("/sys/class/drm/card" + std::to_string(card) + "/device/vendor").starts_with("0x8086")) ++gpus;
  }
  return gpus;
}

// empty: all devices; an empty value of the other variables hides all
constexpr std::string_view kIntel = "ZE_AFFINITY_MASK";

struct KindRow {
  DeviceKind kind;
  std::size_t (*count)(const DeviceFiles&);
};

// In the order of preference. Intel GPUs come last, as one of them may only drive the display.
constexpr std::array kKinds{
    KindRow{{"NVIDIA GPU", "CUDA_VISIBLE_DEVICES"}, nvidia_gpus},
    KindRow{{"AMD GPU", "ROCR_VISIBLE_DEVICES"},
            [](const DeviceFiles&) { return std::size_t{0}; }},  // only if the variable is inherited
    KindRow{{"AMD GPU", "HIP_VISIBLE_DEVICES"}, amd_gpus},
    KindRow{{"Gaudi card", "HABANA_VISIBLE_MODULES"}, habana_cards},
    KindRow{{"Ascend card", "ASCEND_RT_VISIBLE_DEVICES"}, ascend_cards},
    KindRow{{"Neuron core", "NEURON_RT_VISIBLE_CORES"}, neuron_cores},
    KindRow{{"Intel GPU", kIntel}, intel_gpus},
};

// Whether this item hides the rest of the list: "-1" does for CUDA and HIP; Slurm writes NoDevFiles for a job without
// GPUs.
bool ends_list(std::string_view item) { return item.starts_with('-') || item == "NoDevFiles"; }

// The devices of an inherited list such as "2,GPU-4f,4-6"; ranges of numbers are expanded.
std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty() && out.size() < kMostDevices) {
    const std::string_view item = take_until(text, ',');
    if (ends_list(item)) break;
    const std::size_t dash = item.find('-');
    const auto first = device_number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? std::nullopt : device_number(item.substr(dash + 1));
    if (first && last && *first <= *last && *last < kMostDevices) {
      for (std::uint32_t n = *first; n <= *last; ++n) out.push_back(std::to_string(n));
    } else if (!item.empty()) {
      out.emplace_back(item);
    }
  }
  return out;
}

std::vector<std::string> counted_up(std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, kMostDevices); ++i) out.push_back(std::to_string(i));
  return out;
}

Error too_few(const DeviceRequest& request, const Devices& devices, std::uint32_t local_rank) {
  const std::string wanted = std::to_string(request.per_rank) + (request.per_rank == 1 ? " device" : " devices");
  const std::size_t count = devices.names.size();
  std::string there = "none is found";
  if (count > 0) {
    there = count == 1 ? "there is only 1 " : "there are only " + std::to_string(count) + " ";
    there += std::string(devices.kind.name) + (count == 1 ? "" : "s");
  }
  return Error(ErrorKind::Spawn,
               "local rank " + std::to_string(local_rank) + " cannot have " + wanted + " of its own: " + there)
      .with_hint("start fewer workers there, lower --gpus-per-rank, or leave out --visible-devices");
}

}  // namespace

Devices find_devices(const ReadText& read, const ListFolder& list, std::span<const std::string> environment) {
  for (const KindRow& row : kKinds) {
    const std::string* inherited = find_variable(environment, row.kind.variable);
    if (inherited == nullptr) continue;
    const bool means_all = value_of(*inherited).empty() && row.kind.variable == kIntel;
    if (!means_all) return {row.kind, listed(value_of(*inherited))};
  }
  const DeviceFiles host{read, list};
  for (const KindRow& row : kKinds) {
    if (const std::size_t count = row.count(host); count > 0) return {row.kind, counted_up(count)};
  }
  return {};
}

Result<Environment> device_variables(const DeviceRequest& request, const Devices& devices, std::uint32_t local_rank) {
  if (request.visible == VisibleDevices::None) return Environment{"CUDA_VISIBLE_DEVICES=-1", "HIP_VISIBLE_DEVICES=-1"};
  if (request.visible == VisibleDevices::All) return Environment();
  if (request.visible == VisibleDevices::PerRankIfAny && devices.names.empty()) return Environment();
  const std::size_t first = std::size_t{local_rank} * request.per_rank;
  if (first + request.per_rank > devices.names.size()) return too_few(request, devices, local_rank);
  std::string value;
  for (std::size_t i = first; i < first + request.per_rank; ++i) value += (value.empty() ? "" : ",") + devices.names[i];
  return Environment{std::string(devices.kind.variable) + "=" + value};
}

}  // namespace sml::plan
