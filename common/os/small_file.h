// Files that are read in one go.
#pragma once
#include <string>

namespace sml::os {

// All of a file of the kernel's (/proc, /sys); empty when it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace sml::os
