// How much of this machine is in use at this moment, as the kernel's files tell it: memory, and accelerators whose
// driver has files for that (amdgpu, in sysfs). NVIDIA's driver has none: gpu_look.h. Linux.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "common/core/usage.h"

namespace sml::os {

// Of the text of /proc/meminfo: what is not available counts as used. Zeros where it does not tell.
void add_memory(HostUse& use, std::string_view meminfo);

// The folders below `drm` (/sys/class/drm) of devices that tell how busy they are. At most kMostAccelerators.
std::vector<std::string> accelerators_in(const std::string& drm);
// Of one of them, now.
AcceleratorUse use_of(const std::string& folder);

// Of a process and what it has started, at most 4096 of them. Reads a few files for each.
ProcessUse use_of_family(pid_t pid);

}  // namespace sml::os
