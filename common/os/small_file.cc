#include "common/os/small_file.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

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

Result<void> write_file(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return sys_error(ErrorKind::Io, "cannot open " + path, errno);
  if (!write_all(fd.get(), text)) return sys_error(ErrorKind::Io, "cannot write " + path, errno);
  return {};
}

Result<UniqueFd> open_for_output(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  UniqueFd fd(::open(path.c_str(), kFlags, 0666));
  if (!fd) return sys_error(ErrorKind::Io, "cannot open " + path, errno);
  return fd;
}

}  // namespace sml::os
