// Reads small files at once.
#pragma once
#include <string>

namespace sml::os {

// Returns the whole content of a kernel file (/proc, /sys); empty if it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace sml::os
