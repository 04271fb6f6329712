// Files of the kernel's that are read in one go: /proc, /sys.
#pragma once
#include <string>

namespace sml::os {

// All of it; empty when it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace sml::os
