#include "launcher/run/exclude_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/core/text.h"
#include "common/os/fd.h"

namespace sml::run {

Result<void> append_line(const std::string& path, std::string_view line) {
  constexpr int kMode = 0644;
  const os::UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kMode));
  const bool whole = file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (whole) return {};
  return Error(ErrorKind::Io, "cannot write " + show(path) + ": " + errno_text(errno));
}

}  // namespace sml::run
