// Files that are read or written in one go.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::os {

// All of a file of the kernel's (/proc, /sys); empty when it cannot be read.
std::string read_small_file(const std::string& path);

// Replaces the file's contents, mode 0644 less the umask. Error (Io) names the file.
Result<void> write_file(const std::string& path, std::string_view text);

// Opens a file that is written bit by bit, emptied, appending, with mode 0666 less the umask. Waits for nobody: a FIFO
// without a reader is an error. Error (Io) names the file.
Result<UniqueFd> open_for_output(const std::string& path);

}  // namespace sml::os
