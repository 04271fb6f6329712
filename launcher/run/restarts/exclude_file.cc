#include "launcher/run/restarts/exclude_file.h"

#include <cerrno>

#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/own_file.h"

namespace sml::run {

Result<void> append_line(const std::string& path, std::string_view line) {
  constexpr mode_t kMode = 0644;
  const Result<os::UniqueFd> opened = os::open_own_file(path, {.if_there = os::IfThere::Keep, .mode = kMode});
  if (!opened) return opened.error();
  const os::UniqueFd& file = *opened;
  const ssize_t written = ::write(file.get(), line.data(), line.size());
  // If a part was written, the next write fails with the reason.
  if (written >= 0 && os::write_all(file.get(), line.substr(static_cast<std::size_t>(written)))) return {};
  return Error(ErrorKind::Io, "cannot write " + show(path) + ": " + errno_text(errno));
}

}  // namespace sml::run
