// Any bytes as a listing of nvidia-smi: what is taken can be listed again, and is within what the launcher is told of a
// host.
#include "launcher/agent/os/gpu_look.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view listing(reinterpret_cast<const char*>(data), size);
  const std::vector<AcceleratorUse> found = os::parse_gpu_listing(listing);
  require(found.size() <= kMostAccelerators);
  std::string again;
  for (const AcceleratorUse& one : found) {
    require(one.name.starts_with("gpu") && one.busy_percent <= 100 && one.memory_used <= one.memory_total);
    again += one.name.substr(3) + ", " + std::to_string(one.busy_percent) + ", " +
             std::to_string(one.memory_used >> 20) + ", " + std::to_string(one.memory_total >> 20) + "\n";
  }
  require(os::parse_gpu_listing(again) == found);
  return 0;
}
