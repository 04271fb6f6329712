// The current use of this machine, from the kernel's files: memory, and accelerators whose driver has such files
// (amdgpu, in sysfs). NVIDIA's driver has none: nvidia-smi reports for it, see gpu_look.h. Linux.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>
#include <time.h>

#include "common/core/usage.h"

namespace sml::os {

// Adds the memory use from the text of /proc/meminfo: everything that is not available counts as used. Leaves the zeros
// if the text lacks the values.
void add_memory(HostUse& use, std::string_view meminfo);

// The paths of the folders in `drm` (/sys/class/drm) whose devices report their utilization, sorted; at most
// kMostAccelerators.
std::vector<std::string> accelerators_in(const std::string& drm);
// The current use of one of these.
AcceleratorUse use_of(const std::string& folder);

// The use of a process and its descendants, at most 4096 processes in all. Reads two files for each. If the process had
// no descendants at the last look and has used no CPU time since, reads no file and returns the last result.
class FamilyUse {
 public:
  explicit FamilyUse(pid_t pid) : pid_(pid) {}
  ProcessUse look();

 private:
  pid_t pid_;
  std::optional<timespec> ran_;  // its processor time at the last look; nullopt: unknown, or it had children
  ProcessUse last_;
};

}  // namespace sml::os
