#include "common/os/boot.h"

#include "common/core/letters.h"
#include "common/os/small_file.h"

namespace sml::os {

std::string boot_name() {
  constexpr std::size_t kDigits = 8;
  std::string out;
  for (const char c : read_small_file("/proc/sys/kernel/random/boot_id")) {
    if (is_digit(c) || (c >= 'a' && c <= 'f')) out += c;
    if (out.size() == kDigits) break;
  }
  return out.empty() ? std::string(kUnknownBoot) : out;
}

}  // namespace sml::os
