// --exclude-file, written.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::run {

// One more line, in one piece. Follows no link. Error (Io) names the file.
Result<void> append_line(const std::string& path, std::string_view line);

}  // namespace sml::run
