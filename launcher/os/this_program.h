// Recognizes the executable file of this process by its device and inode: links to sml-run may have the names of other
// launchers (--install-links). Looks paths up with stat(), opens no file.
#pragma once
#include <string>

namespace sml::os {

// Whether the path `file` leads to the executable file of this process; links are followed, PATH is not searched. False
// if one of the two cannot be looked up.
bool is_this_program(const std::string& file);

}  // namespace sml::os
