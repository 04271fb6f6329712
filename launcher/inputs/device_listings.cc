#include "launcher/inputs/device_listings.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace sml {

std::uint32_t gpus_in_listing(std::string_view nvidia_smi_output) {
  std::uint32_t gpus = 0;
  for (std::size_t at = 0; at < nvidia_smi_output.size();) {
    const std::size_t end = std::min(nvidia_smi_output.find('\n', at), nvidia_smi_output.size());
    if (nvidia_smi_output.substr(at, end - at).starts_with("GPU ")) ++gpus;
    at = end + 1;
  }
  return gpus;
}

std::uint32_t visible_gpus(std::uint32_t gpus, std::optional<std::string_view> visible_devices) {
  if (!visible_devices) return gpus;
  std::uint32_t visible = 0;
  for (std::size_t at = 0; at < visible_devices->size();) {
    const std::size_t end = std::min(visible_devices->find(',', at), visible_devices->size());
    std::string_view device = visible_devices->substr(at, end - at);
    while (device.starts_with(' ')) device.remove_prefix(1);
    std::uint32_t index = 0;
    const bool is_index = std::from_chars(device.data(), device.data() + device.size(), index).ec == std::errc();
    // CUDA ignores the rest of the list
    if (device.empty() || device.starts_with('-') || (is_index && index >= gpus)) break;
    ++visible;
    at = end + 1;
  }
  return visible;
}

std::uint32_t neuron_cores_in_listing(std::string_view neuron_ls_output) {
  constexpr std::string_view kKey = "\"nc_count\"";
  std::uint32_t cores = 0;
  for (std::size_t at = neuron_ls_output.find(kKey); at != std::string_view::npos;
       at = neuron_ls_output.find(kKey, at)) {
    at = std::min(neuron_ls_output.find_first_not_of(" \t\r\n:", at + kKey.size()), neuron_ls_output.size());
    std::uint32_t count = 0;
    const char* end = neuron_ls_output.data() + neuron_ls_output.size();
    if (std::from_chars(neuron_ls_output.data() + at, end, count).ec == std::errc()) cores += std::min(count, 1024U);
  }
  return cores;
}

}  // namespace sml
