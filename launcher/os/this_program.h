// Recognizes the executable file of this process.
#pragma once
#include <string>

namespace sml::os {

// Whether `file` is the executable file of this process, by whatever name or link. False if it cannot be found out.
bool is_this_program(const std::string& file);

}  // namespace sml::os
