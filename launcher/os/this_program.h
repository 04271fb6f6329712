// The file of this process's program.
#pragma once
#include <string>

namespace sml::os {

// Whether `file` is that of this process, by whatever name or link.
bool is_this_program(const std::string& file);

}  // namespace sml::os
