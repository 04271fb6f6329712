// Files without a name, which disappear when their last descriptor is closed.
#pragma once
#include <cstdint>
#include <string_view>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::os {

enum class FileUse : std::uint8_t { Read, Execute };

// Returns a descriptor at the beginning of a file that holds `bytes`. The file is in memory. If the system has no
// memfd_create(2), or refuses the file (as vm.memfd_noexec does for FileUse::Execute), it is a file in a folder for
// temporary files, whose name is removed at once. `name` identifies a file in memory to people who look at /proc, and
// the file in an error. Error (Spawn): neither memory nor a folder takes the file.
Result<UniqueFd> nameless_file(const char* name, std::string_view bytes, FileUse use);

}  // namespace sml::os
