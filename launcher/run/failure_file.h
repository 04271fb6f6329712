// The file in which a platform looks for the reason of a failure.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml {

// Writes the text to a new file, or to one that is there and empty. What somebody else has written stays, and a folder
// that does not exist means that nobody looks: both count as success. Error (Io) names the file.
Result<void> leave_failure(const std::string& path, std::string_view text);

}  // namespace sml
