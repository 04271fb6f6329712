#include "launcher/os/own_start.h"

#include <array>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"

namespace sml::os {

TimePoint own_start() {
  constexpr std::size_t kStartTime = 22 - 3;  // fields after the name, which may have blanks and ends with the last )
  const UniqueFd file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> bytes{};
  const ssize_t n = file ? ::read(file.get(), bytes.data(), bytes.size() - 1) : -1;
  const std::string_view text(bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  const std::size_t name_end = text.rfind(") ");
  timespec since_boot{};
  if (name_end == std::string_view::npos || ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return Clock::now();
  const auto fields = split(text.substr(name_end + 2), ' ');
  if (fields.size() <= kStartTime) return Clock::now();
  const double ticks = std::strtod(fields[kStartTime].data(), nullptr);
  const double now = static_cast<double>(since_boot.tv_sec) + static_cast<double>(since_boot.tv_nsec) / 1e9;
  const double age = now - ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (age < 0) return Clock::now();
  return Clock::now() - std::chrono::duration_cast<Duration>(std::chrono::duration<double>(age));
}

}  // namespace sml::os
