// Writes the file from which the platform that runs the job, such as SageMaker, reads the reason of a failure.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml {

// Writes the text to a new file, or to an existing empty one. Leaves a file with content as it is, and makes no folder:
// a missing one means that no platform reads the file. Both count as success. Error (Io) names the file.
Result<void> leave_failure(const std::string& path, std::string_view text);

// Writes the text in place of what the file holds; creates the file if needed. Error (Io) names the file.
Result<void> write_failure(const std::string& path, std::string_view text);

}  // namespace sml
