// The name of this boot of the machine's kernel.
#pragma once
#include <string>
#include <string_view>

namespace sml::os {

inline constexpr std::string_view kUnknownBoot = "unknown";

// The first 8 hexadecimal digits of /proc/sys/kernel/random/boot_id (proc(5)); kUnknownBoot if it cannot be read.
std::string boot_name();

}  // namespace sml::os
