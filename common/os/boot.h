// The name of this boot of the machine's kernel.
#pragma once
#include <string>

namespace sml::os {

// The first 8 hexadecimal digits of /proc/sys/kernel/random/boot_id (proc(5)); "unknown" if it cannot be read.
std::string boot_name();

}  // namespace sml::os
