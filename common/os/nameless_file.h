// Files without a name, which are gone with their last descriptor.
#pragma once
#include <cstdint>
#include <string_view>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::os {

enum class FileUse : std::uint8_t { Read, Execute };

// A descriptor, for reading from the beginning, of a file that holds `bytes`: in memory, or where the system allows
// none that is executed (memfd_create(2) refused or missing, vm.memfd_noexec) in a folder for such things, whose names
// it has lost again. `name` is what people see of it in /proc. Error (Spawn): there is no place for it.
Result<UniqueFd> nameless_file(const char* name, std::string_view bytes, FileUse use);

}  // namespace sml::os
