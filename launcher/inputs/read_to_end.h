// Reads from a file or pipe that may still be written.
#pragma once
#include <cstddef>
#include <string>

#include "common/core/error.h"

namespace sml {

// Reads from a non-blocking descriptor to its end, at most `limit` bytes; a pipe may take 30 s for each piece. Error
// (Config).
Result<std::string> read_to_end(int fd, std::size_t limit);

}  // namespace sml
