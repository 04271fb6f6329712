#include "launcher/run/restarts/exclude_file.h"

#include <cerrno>

#include <unistd.h>

#include "common/core/text.h"
#include "common/os/own_file.h"

namespace sml::run {

Result<void> append_line(const std::string& path, std::string_view line) {
  constexpr mode_t kMode = 0644;
  const Result<os::UniqueFd> opened = os::open_own_file(path, {.if_there = os::IfThere::Keep, .mode = kMode});
  if (!opened) return opened.error();
  const os::UniqueFd& file = *opened;
  const bool whole = ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (whole) return {};
  return Error(ErrorKind::Io, "cannot write " + show(path) + ": " + errno_text(errno));
}

}  // namespace sml::run
