// Writes the file of --exclude-file.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::run {

// Appends `line`, which includes its newline, with a single write if the file system takes it whole. Creates the file
// if needed. Does not follow a symbolic link. Error (Io) names the file.
Result<void> append_line(const std::string& path, std::string_view line);

}  // namespace sml::run
