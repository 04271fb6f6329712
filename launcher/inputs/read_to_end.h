// Reads from a file or pipe that may still be written.
#pragma once
#include <cstddef>
#include <string>

#include "common/core/error.h"

namespace sml {

// Reads from a non-blocking descriptor to its end. Blocks; waits up to 30 s for each piece of data from a pipe. Error
// (Config): more than `limit` bytes, no data in time, or a failed read.
Result<std::string> read_to_end(int fd, std::size_t limit);

}  // namespace sml
