// Any contents of the files in which a host describes itself (/proc, /sys, cgroups, os-release): what is read is within
// what a host can have, and workers are bound to processors that they may use.
#include "common/plan/host_facts.h"

#include <array>
#include <cstdint>
#include <string>

#include "common/plan/machine/cpu_topology.h"
#include "common/plan/machine/devices.h"
#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

namespace {

// One text for each kind of file; those that a host has many of have the same text everywhere.
constexpr std::array<std::string_view, 10> kFiles{"meminfo",    "/proc/self/cgroup",  "memory.", "cpu.max",
                                                  "os-release", "nvidia/version",     "online",  "cpulist",
                                                  "core_id",    "physical_package_id"};

class Host {
 public:
  explicit Host(std::string_view text) {
    for (auto& file : files_) {
      const auto end = std::min(text.find('\0'), text.size());
      file = text.substr(0, end);
      text.remove_prefix(std::min(text.size(), end + 1));
    }
    names_ = text;
  }
  std::string read(const std::string& path) const {
    for (std::size_t i = 0; i < kFiles.size(); ++i) {
      if (path.find(kFiles[i]) != std::string::npos) return std::string(files_[i]);
    }
    return std::string(files_.back());
  }
  std::vector<std::string> list(const std::string&) const { return {std::string(names_), "nvidia0", "card1", "0"}; }

 private:
  std::array<std::string_view, kFiles.size()> files_;
  std::string_view names_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const Host host(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  const auto read = [&](const std::string& path) { return host.read(path); };
  const auto list = [&](const std::string& path) { return host.list(path); };
  const plan::Memory memory = plan::read_memory(read);
  require(memory.available <= memory.total);
  const std::uint32_t allowed = data[0] % 16U + 1;
  const std::uint32_t cores = plan::read_usable_cores(read, allowed);
  require(cores >= 1 && cores <= allowed);
  require(plan::read_system_name(read).find('\n') == std::string::npos);
  require(plan::read_nvidia_driver(read).find('\n') == std::string::npos);
  const std::vector<std::string> environment{"CUDA_VISIBLE_DEVICES=" + host.read("core_id")};
  for (const auto& names :
       {plan::find_devices(read, list, environment).names, plan::find_devices(read, list, {}).names}) {
    for (const std::string& name : names) require(name.find(',') == std::string::npos);
  }
  plan::parse_cpu_list(host.read("cpulist"));
  plan::read_cpu_topology(read);
  return 0;
}
