// Files that are read or written in one go.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::os {

// All of a file of the kernel's (/proc, /sys); empty when it cannot be read.
std::string read_small_file(const std::string& path);

// Replaces the file's contents; a new one has mode 0600. Who else could have put something there: see own_file.h. Error
// (Io) names the file.
Result<void> write_file(const std::string& path, std::string_view text);

// Whether write_file() could do that, as far as that can be seen without touching it. Error (Io) names the file. Empty:
// none is meant.
Result<void> check_output(const std::string& path);

}  // namespace sml::os
