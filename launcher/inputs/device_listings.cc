#include "launcher/inputs/device_listings.h"

#include <algorithm>

#include "common/core/text.h"
#include "common/core/text_cursor.h"

namespace sml {

std::uint32_t gpus_in_listing(std::string_view nvidia_smi_output) {
  std::uint32_t gpus = 0;
  while (!nvidia_smi_output.empty()) {
    if (take_until(nvidia_smi_output, '\n').starts_with("GPU ")) ++gpus;
  }
  return gpus;
}

std::uint32_t visible_gpus(std::uint32_t gpus, std::optional<std::string_view> visible_devices) {
  if (!visible_devices) return gpus;
  std::uint32_t visible = 0;
  while (!visible_devices->empty()) {
    const std::string_view device = trim(take_until(*visible_devices, ','), " ");
    const auto index = leading_number<std::uint32_t>(device);
    // CUDA ignores the rest of the list
    if (device.empty() || device.starts_with('-') || (index && *index >= gpus)) break;
    ++visible;
  }
  return visible;
}

std::uint32_t neuron_cores_in_listing(std::string_view neuron_ls_output) {
  constexpr std::string_view kKey = "\"nc_count\"";
  std::uint32_t cores = 0;
  for (std::size_t at = neuron_ls_output.find(kKey); at != std::string_view::npos;
       at = neuron_ls_output.find(kKey, at)) {
    at = std::min(neuron_ls_output.find_first_not_of(" \t\r\n:", at + kKey.size()), neuron_ls_output.size());
    cores += std::min(leading_number<std::uint32_t>(neuron_ls_output.substr(at)).value_or(0), 1024U);
  }
  return cores;
}

}  // namespace sml
