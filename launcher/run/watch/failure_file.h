// Writes the file from which a platform reads the reason of a failure.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml {

// Writes the text to a new file, or to an existing empty one. A file with content is left as it is, and a missing
// folder means that no platform reads the file: both count as success. Error (Io) names the file.
Result<void> leave_failure(const std::string& path, std::string_view text);

// Writes the text in place of what the file holds. Error (Io) names the file.
Result<void> write_failure(const std::string& path, std::string_view text);

}  // namespace sml
