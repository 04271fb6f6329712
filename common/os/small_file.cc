#include "common/os/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/os/fd.h"

namespace sml::os {

std::string read_small_file(const std::string& path) {
  std::string text;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return text;
  char buffer[4096];
  for (ssize_t n = ::read(fd.get(), buffer, sizeof buffer); n > 0; n = ::read(fd.get(), buffer, sizeof buffer)) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace sml::os
