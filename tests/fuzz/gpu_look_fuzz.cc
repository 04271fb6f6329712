// Any bytes as what the helper of NVIDIA's library says of its devices: what is taken can be said again in the same
// words, and is within what the launcher is told of a host.
#include "launcher/agent/os/gpu_look.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto look = os::parse_gpu_line(line);
  if (!look) return 0;
  require(look->devices.size() <= kMostAccelerators);
  std::string again = std::to_string(look->cost_us);
  for (const AcceleratorUse& one : look->devices) {
    require(one.name.starts_with("gpu") && one.busy_percent <= 100 && one.memory_used <= one.memory_total);
    again += ";" + one.name.substr(3) + " " + std::to_string(one.busy_percent) + " " + std::to_string(one.memory_used) +
             " " + std::to_string(one.memory_total);
  }
  const auto same = os::parse_gpu_line(again);
  require(same && *same == *look);
  require(os::gpu_interval(look->cost_us) >= std::chrono::seconds(1));
  return 0;
}
